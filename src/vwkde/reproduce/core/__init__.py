"""What all figures share: tasks that can be resumed, figures, pages."""

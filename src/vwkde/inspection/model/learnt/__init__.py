"""What is learnt from good images, and how others are judged by it."""

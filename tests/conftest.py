"""The slow tests, which `make quick` leaves out.

They are listed here, not marked where they stand, so that what the quick tier costs is seen in one place. Add whatever
`pytest --durations=20 -m "not slow"` puts on top; some tests of every folder stay.
"""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ALL = ("",)
"""Stands for every test of a file: what all their names begin with."""

SLOW = {
    "_answers/test_functionals.py": (
        "test_exact_ratios_give_exact_divergences",
        "test_noise_in_the_ratio_cancels_to_second_order",
    ),
    "_answers/test_overlap.py": ALL,
    "_answers/test_support.py": ("test_densities_that_fade_out_have_nothing_outside",),
    "_compute/engines/test_engines.py": (
        "test_a_grid_of_bandwidths_and_columns_of_weights",
        "test_batches_of_samples",
        "test_sums_are_those_of_the_oracle",
    ),
    "_compute/engines/test_within.py": ("test_sums_are_within_the_error",),
    "_compute/sums/test_sums.py": (
        "test_agrees_with_exact_arithmetic",
        "test_blocks_tiles_and_padding",
    ),
    "_compute/test_choice.py": (
        "test_the_classifier_passes_engines_on_and_answers_in_kind",
        "test_torch_gives_the_answers_of_numba",
        "test_without_torch_the_command_that_installs_it_is_told",
    ),
    "_compute/test_compile.py": ("test_a_second_process_compiles_nothing",),
    "_coordinates/test_directions.py": (
        "test_many_directions_are_none_to_choose_from",
        "test_two_directions_of_twelve_are_found_where_first_and_second_moments_agree",
    ),
    "_data/test_in_memory.py": (
        "test_every_form_is_near_the_truth_on_streams",
        "test_rows_that_fit_give_the_answer_of_an_array",
        "test_the_answer_does_not_depend_on_blocks",
    ),
    "_data/test_streams.py": ("test_memory_stays_small",),
    "_data/test_validation.py": ALL,
    "_display/test_html.py": ALL,
    "_fit/test_candidates.py": (
        "test_a_bandwidth_given_is_kept",
        "test_directions_are_not_sought_where_the_only_guide_depends_on_the_axes",
        "test_large_samples_are_chosen_for_on_a_part_and_fitted_whole",
        "test_the_data_choose",
        "test_the_papers_weight_is_a_candidate",
        "test_the_variational_weight_acts_on_what_a_guide_leaves",
    ),
    "_fit/test_guided_ratio.py": (
        "test_a_weight_on_top_of_a_guide_leaves_one_ratio_that_counts_in_full",
        "test_a_weight_on_top_of_a_guide_must_earn_its_place",
    ),
    "_fit/test_subspace.py": ALL,
    "_models/derivatives/test_kernel.py": ALL,
    "_models/derivatives/test_mixture.py": ("test_the_error_shrinks_with_the_square_root_of_the_rows",),
    "_models/derivatives/test_score_network.py": ALL,
    "_models/derivatives/test_select.py": ALL,
    "_models/derivatives/test_components.py": ("test_agrees_with_scikit_learn",),
    "_models/test_guides.py": (
        "test_row_weights_reach_every_guide",
        "test_swapping_the_samples_turns_the_sign",
    ),
    "_models/weights/test_weight_network.py": ALL,
    "_runtime/test_warn.py": ("test_a_warning_points_at_the_line_that_called",),
    "baselines/test_baseline_ratio.py": ALL,
    "baselines/test_debiased.py": (
        "test_log_ratio_is_near_the_truth",
        "test_recovers_the_divergence_in_two_dimensions",
        "test_takes_off_most_of_the_bias_of_wide_kernels",
    ),
    "baselines/test_direct.py": ALL,
    "baselines/test_ensemble.py": ("test_recovers_the_divergence_in_two_dimensions",),
    "baselines/test_log_odds.py": ("test_recovers_the_divergence_in_two_dimensions",),
    "baselines/test_metric_learning.py": ("test_the_kl_of_two_gaussians",),
    "baselines/test_mine.py": ALL,
    "baselines/test_nearest.py": (
        "test_rounded_data_give_a_sensible_answer",
        "test_the_kl_of_two_gaussians",
    ),
    "baselines/test_posteriors.py": ALL,
    "baselines/test_risk.py": (
        "test_the_direction_matters",
        "test_the_kl_of_two_gaussians",
    ),
    "baselines/test_von_mises.py": ("test_recovers_the_divergence_in_two_dimensions",),
    "bench/test_inspecting.py": ("test_each_size",),
    "inspection/model/on_device/test_judging.py": ("test_scores_and_maps", "test_a_model_learnt", "test_features_and"),
    "inspection/model/learnt/test_colours.py": ("test_a_model_with_colours", "test_good_images_pass"),
    "inspection/server/test_any_size.py": ("test_images_of_other_sizes",),
    "inspection/server/test_mask_page.py": ("test_a_rectangle", "test_a_brush", "test_a_mask_that"),
    "bench/test_growth_runs.py": (
        "test_a_process",
        "test_every_estimator_answers",
        "test_the_start_of_a_process",
    ),
    "cli/test_faults.py": (
        "test_additions_are_listed_and_taken_back",
        "test_sigterm_keeps_the_scores_found_so_far",
    ),
    "cli/test_growth.py": ("test_a_measurement_from_end_to_end",),
    "cli/test_inspect.py": ALL,
    "cli/test_inspect_demo.py": ALL,
    "cli/test_inspect_line.py": ("test_a_watched_folder",),
    "cli/test_main.py": (
        "test_a_reader_who_leaves_is_no_finding",
        "test_bandwidth_may_be_a_rule",
        "test_demo_gives_the_numbers_and_draws_the_picture",
        "test_demo_without_matplotlib_still_gives_the_table",
        "test_ratio_prints_csv_and_writes_files",
        "test_version_and_module",
        "test_warnings_are_one_line",
    ),
    "inspection/data/test_images.py": ("test_a_bomb_is_refused_without_decoding",),
    "inspection/metrics/test_bootstrap.py": ALL,
    "inspection/model/test_concurrency.py": ALL,
    "inspection/model/test_inspector.py": (
        "test_a_blank_image_is_rejected_without_a_fuss",
        "test_a_gpu_judges_as_the_cpu_does",
        "test_adding_is_fitting_all_with_the_same_coordinates",
        "test_good_images_pass_and_defects_are_found_where_they_are",
        "test_images_of_one_name_stay_apart",
        "test_saved_and_loaded_scores_are_equal_to_the_last_bit",
        "test_the_stated_rate_of_good_images_is_rejected",
    ),
    "inspection/model/learnt/test_library.py": ("test_a_device_finds_what_the_cpu_finds",),
    "inspection/model/test_model_changes.py": (
        "test_an_addition_is_known_by_who_and_when",
        "test_two_processes_that_add_at_once_lose_nothing",
    ),
    "inspection/model/pretrained/test_networks.py": ("test_the_network_of_the_package",),
    "inspection/model/test_rates.py": ALL,
    "inspection/model/trained/test_training.py": ("test_a_trained_network_finds_a_defect",),
    "inspection/report/test_report.py": (
        "test_a_browser_shows_it_without_complaint",
        "test_a_page_needs_nothing_from_elsewhere",
    ),
    "inspection/runs/test_dask.py": ALL,
    "inspection/runs/test_evaluation.py": ALL,
    "inspection/runs/test_interrupted.py": ALL,
    "inspection/server/test_app.py": (
        "test_checks_see_one_model_whole_while_others_add",
        "test_the_command_serves_until_it_is_interrupted",
    ),
    "inspection/server/test_attacks.py": ALL,
    "inspection/server/test_browser.py": ALL,
    "inspection/server/test_load.py": ALL,
    "inspection/server/test_network_served.py": ALL,
    "inspection/test_front.py": ("test_the_examples_run",),
    "reproduce/test_detectors.py": (
        "test_distances_to_neighbours_are_those_of_a_sort",
        "test_kde_is_the_smallest_divergence_by_plain_estimates",
    ),
    "reproduce/test_figures.py": ALL,
    "reproduce/test_surfaces.py": (
        "test_a_network_sees_a_patch_as_it_sees_it_within_an_image",
        "test_methods_that_see_more_than_gradients_find_the_defect",
        "test_one_computation_serves_both_tables",
        "test_real_images_are_told_apart",
    ),
    "reproduce/test_tasks.py": ("test_outcomes_come_by_name",),
    "test_architecture.py": ("test_an_estimate_of",),
    "test_bench.py": (
        "test_every_engine_takes_part",
        "test_every_task_is_timed",
        "test_limits_are_those_of_the_threads_asked_for",
        "test_peers_estimate_the_divergence",
        "test_the_command_leaves_numbers_and_a_picture",
        "test_the_limit_is_that_of_operations_and_exponentials_together",
    ),
    "test_classifier.py": (
        "test_held_out_log_loss_on_iris",
        "test_scikit_learn_accepts_it",
        "test_several_classes",
        "test_the_posterior_of_high_dimensional_gaussians_is_near_the_truth",
    ),
    "test_concurrency.py": ALL,
    "test_dask.py": ALL,
    "test_datasets.py": ("test_divergences_are_those_of_the_paper",),
    "test_displays.py": (
        "test_effective_size_falls_with_the_distance",
        "test_features_go_by_name",
        "test_importing_a_display_loads_no_matplotlib",
        "test_legends_lie_above_the_data",
    ),
    "test_divergences.py": (
        "test_equal_densities_have_no_divergence",
        "test_intervals_by_subsamples_agree_with_those_by_influence",
        "test_kl_is_the_default_kind",
        "test_method_names_stand_for_parameters",
        "test_other_divergences_of_unit_gaussians_one_apart",
        "test_standard_error_covers_the_scatter",
        "test_the_default_is_within_the_floor_of_any_estimator",
        "test_the_one_dimensional_example_is_flat_in_the_bandwidth",
        "test_the_papers_estimator_is_near_the_truth_where_plain_kde_is_not",
        "test_unequal_sizes",
        "test_weights_reach_the_fit",
        "test_what_the_candidates_disagree_about_widens_the_interval",
    ),
    "test_docs.py": ALL,
    "test_docstrings.py": ("test_examples_run",),
    "information/test_mutual.py": ALL,
    "test_properties.py": ALL,
    "test_ratio.py": (
        "test_a_ridge_flattens_the_weight_until_none_is_left",
        "test_any_affine_copy_gives_the_same_answer",
        "test_bandwidth_rules_are_averaged_over_the_samples",
        "test_both_samples_count_alike_whatever_their_sizes",
        "test_chosen_derivatives_of_gaussian_data_are_those_of_the_paper",
        "test_equal_weights_are_no_weights_and_their_scale_is_free",
        "test_every_target_lowers_the_bias_where_it_looks",
        "test_far_queries_have_finite_log_ratios",
        "test_fitting_again_forgets_the_first_fit",
        "test_guided_ratios_survive_pickling",
        "test_importance_weights_turn_the_denominator_into_the_numerator",
        "test_memory_budget_and_threads_do_not_matter",
        "test_models_of_several_modes_leave_less_bias_than_one_gaussian",
        "test_one_thread_asked_for_is_one_thread_throughout",
        "test_posterior_follows_the_ratio_and_the_prior",
        "test_ratio_is_that_of_the_weighted_sums",
        "test_row_order_does_not_matter_even_where_choices_are_random",
        "test_scikit_learn_conventions",
        "test_targets_differ",
        "test_the_default_spelled_out_is_the_default",
        "test_the_same_seed_gives_the_same_answer",
        "test_the_weight_that_the_default_tries_is_that_of_the_chosen_scores",
        "test_weights_correct_a_biased_sample",
        "test_what_comes_in_as_tensors_goes_out_as_tensors",
        "test_without_options_the_scores_are_chosen_by_the_held_out_loss_and_it_is_told",
    ),
    "test_repeats.py": (
        "test_errors_count_groups",
        "test_errors_from_subsamples_count_distinct_rows",
        "test_groups_are_left_out_together",
        "test_mutual_information_of_repeated_rows",
        "test_repeated_rows_do_not_raise_the_divergence",
        "test_rows_that_nearly_repeat_others_are_told",
        "test_the_two_sample_test_of_groups_is_exact",
    ),
    "test_scale_docs.py": ALL,
    "test_two_sample.py": (
        "test_power_on_a_shift_is_that_of_the_energy_test",
        "test_the_level_is_held",
    ),
    "test_wrong_answers.py": (
        "test_bounds_hold_where_the_divergence_is_known",
        "test_every_truth_is_a_range",
        "test_integrals_agree_with_closed_forms",
        "test_mutual_informations_agree_with_the_entropy_of_large_samples",
        "test_the_bounds_of_real_tables_leave_room",
    ),
    "test_zoo.py": (
        "test_a_seed_is_a_problem",
        "test_any_function_can_enter_and_a_run_goes_on",
        "test_log_ratios_are_exact",
        "test_log_ratios_that_are_a_quarter_off_are_seen",
        "test_peers_estimate_the_divergence",
        "test_the_default_and_a_guide_answer_what_is_asked",
        "test_what_knows_the_ratio_attains_the_floor",
    ),
}
"""Files below the folder of the tests, and what the names of their slow tests begin with."""


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests."""
    stale = [f"{file} {name}" for file, names in SLOW.items() for name in names if not _has_test(TESTS / file, name)]
    if stale:
        raise pytest.UsageError(f"tests/conftest.py lists tests that do not exist: {', '.join(stale)}.")
    for item in items:
        names = SLOW.get(item.path.relative_to(TESTS).as_posix())
        if names is not None and item.name.startswith(names):
            item.add_marker(pytest.mark.slow)


def _has_test(file: Path, name: str) -> bool:
    return file.is_file() and f"def {name}" in file.read_text()

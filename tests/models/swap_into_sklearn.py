"""A pytest plugin: scikit-learn's tests meet our classes under scikit-learn's names.

It has to be loaded before the test modules, which bind the names when they are imported.
``DISCRIM_SWAP`` lists the classes that are exchanged, as module:name, separated by blanks.
"""

import importlib
import os

import discrim

# Tests that are left out: for each the arguments that are meant (all where none are given; of a set any), and why.
LEFT_OUT = {
    "test_lda_predict": ({}, "demands that solver='svd' refuse shrinkage and covariance estimators"),
    "test_lda_transform": ({}, "demands that solver='lsqr' have no transform"),
    "test_qda_covariance_estimator": ({}, "demands that solver='svd' refuse shrinkage and covariance estimators"),
    "test_qda_regularization": ({"solver": "svd"}, "demands that reg_param not help where a class has few rows"),
    "test_NB_partial_fit_no_first_classes": (
        {
            "NaiveBayes": {
                discrim.GaussianNB,
                discrim.BernoulliNB,
                discrim.CategoricalNB,
                discrim.ComplementNB,
                discrim.MultinomialNB,
            }
        },
        "demands that the first partial_fit refuse to go without a list of classes",
    ),
    "test_discretenb_provide_prior": (
        {
            "DiscreteNaiveBayes": {
                discrim.BernoulliNB,
                discrim.CategoricalNB,
                discrim.ComplementNB,
                discrim.MultinomialNB,
            }
        },
        "demands that a fit that failed leave its classes behind for the next partial_fit",
    ),
    "test_gnb_check_update_with_no_data": ({}, "calls the private GaussianNB._update_mean_variance"),
    "test_liblinear_dual_random_state": ({}, "demands that the answer depend on random_state"),
    "test_logistic_cv_multinomial_score": ({}, "hands our further parameters to the private _log_reg_scoring_path"),
    "test_logreg_predict_proba_multinomial": ({}, "calls the private LogisticRegression._predict_proba_lr"),
    "test_large_sparse_matrix": (
        {"solver": {"liblinear", "sag", "saga"}},
        "demands that these solvers refuse sparse matrices with 64-bit indices",
    ),
    "test_liblinear_with_large_values": ({}, "demands that liblinear refuse values above 1e30"),
    "test_newton_cholesky_fallback_to_lbfgs": ({}, "counts the steps of lbfgs and demands its wording"),
    "test_plain_has_no_average_attr": ({}, "demands the private names under which averages are kept"),
    "test_classifier_accuracy": ({"average": True}, "demands the private names under which averages are kept"),
    "test_classifier_partial_fit": ({"average": True}, "demands the private names under which averages are kept"),
    "test_class_deprecation": ({}, "demands that the passive-aggressive classifier be deprecated"),
    "test_partial_fit_exception": ({}, "demands that the first partial_fit refuse to go without a list of classes"),
    "test_validation_mask_correctly_subsets": ({}, "replaces the private _ValidationScoreCallback"),
    "test_multi_thread_multi_class_and_early_stopping": (
        {},
        "demands the epoch at which scores of weights without their scale would stop",
    ),
    "test_sgd_error_on_zero_validation_weight": (
        {},
        "demands the words about rows held out where no row has any weight",
    ),
}


def swap():
    for place in os.environ["DISCRIM_SWAP"].split():
        module, name = place.split(":")
        setattr(importlib.import_module(module), name, getattr(discrim, name))


def is_left_out(item):
    arguments, _ = LEFT_OUT.get(item.originalname, (None, None))
    if arguments is None:
        return False
    found = getattr(item, "callspec", None)
    return all(found is not None and matches(found.params[name], value) for name, value in arguments.items())


def matches(found, meant):
    return found in meant if isinstance(meant, set) else found == meant


def pytest_collection_modifyitems(config, items):
    gone = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in gone]


swap()

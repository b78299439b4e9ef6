# SPDX-License-Identifier: MIT
"""oneDAL through scikit-learn-intelex: the algorithms that it offloads, beside scikit-learn's own.

Data are of scikit-learn's generators, in double precision if the device has it; a fit on the device is
not allowed to fall back to the host.
"""
import functools

import numpy as np
from app_cases import BACKEND, case, check, main
from sklearn.datasets import make_blobs, make_classification, make_regression

DEVICE = "cpu" if BACKEND in ("zepi-cpu", "opencl") else "gpu"
KIND = np.float32


@functools.cache
def meet_onemkl():
    """On a GPU that it does not know, oneMKL's first call of gemm fails, and later ones compute."""
    from sklearnex.covariance import IncrementalEmpiricalCovariance
    try:
        with offloaded():
            IncrementalEmpiricalCovariance().fit(blobs(50)[0])
    except RuntimeError as error:
        if "unknown GPU architecture" not in str(error):
            raise


def onemkl(function):
    """Decorator: oneDAL calls oneMKL for this case."""
    @functools.wraps(function)
    def run():
        if BACKEND == "zepi-gpu":
            meet_onemkl()
        function()
    return run


def offloaded():
    from sklearnex import config_context
    return config_context(target_offload=DEVICE + ":0", allow_fallback_to_host=False)


def blobs(rows=600, columns=6, centers=4):
    x, y = make_blobs(rows, columns, centers=centers, random_state=1, cluster_std=1.0)
    return x.astype(KIND), y


def classification(rows=600, columns=8, classes=2):
    x, y = make_classification(rows, columns, n_informative=5, n_classes=classes, random_state=2, class_sep=1.5)
    return x.astype(KIND), y


def regression(rows=600, columns=8):
    x, y = make_regression(rows, columns, noise=1.0, random_state=3)
    return x.astype(KIND), (y / 100).astype(KIND)


def score(estimator, x, y):
    return estimator.fit(x, y).score(x, y)


@case
def basic_statistics():
    from sklearnex.basic_statistics import BasicStatistics
    x, _ = blobs()
    with offloaded():
        result = BasicStatistics().fit(x)
    check(result.mean_, x.mean(0))
    check(result.max_, x.max(0))
    check(result.variance_, x.var(0, ddof=1), 1e-3)


@case
def incremental_basic_statistics():
    from sklearnex.basic_statistics import IncrementalBasicStatistics
    x, _ = blobs()
    with offloaded():
        result = IncrementalBasicStatistics()
        for part in np.array_split(x, 3):
            result.partial_fit(part)
        check(result.mean_, x.mean(0))
        check(result.sum_, x.sum(0))


@case
@onemkl
def empirical_covariance():
    from sklearn.covariance import EmpiricalCovariance as Theirs
    from sklearnex.preview.covariance import EmpiricalCovariance
    x, _ = blobs()
    with offloaded():
        result = EmpiricalCovariance().fit(x)
    check(result.covariance_, Theirs().fit(x).covariance_, 1e-3)


@case
@onemkl
def incremental_covariance():
    from sklearnex.covariance import IncrementalEmpiricalCovariance
    x, _ = blobs()
    with offloaded():
        result = IncrementalEmpiricalCovariance()
        for part in np.array_split(x, 3):
            result.partial_fit(part)
        check(result.covariance_, np.cov(x.T, bias=True), 1e-3)


@case
@onemkl
def pca():
    from sklearn.decomposition import PCA as Theirs
    from sklearnex.decomposition import PCA
    x, _ = blobs()
    with offloaded():
        result = PCA(3, svd_solver="covariance_eigh").fit(x)
        there = result.transform(x)
    theirs = Theirs(3, svd_solver="covariance_eigh").fit(x)
    check(result.explained_variance_, theirs.explained_variance_, 1e-3)
    check(np.abs(there), np.abs(theirs.transform(x)), 1e-2)


@case
@onemkl
def incremental_pca():
    from sklearn.decomposition import PCA as Theirs
    from sklearnex.preview.decomposition import IncrementalPCA
    x, _ = blobs()
    with offloaded():
        result = IncrementalPCA(3)
        for part in np.array_split(x, 3):
            result.partial_fit(part)
        variance = result.explained_variance_
    check(variance, Theirs(3).fit(x).explained_variance_, 1e-2)


@case
@onemkl
def kmeans():
    from sklearn.cluster import KMeans as Theirs
    from sklearnex.cluster import KMeans
    x, _ = blobs()
    start = x[:4]
    with offloaded():
        result = KMeans(4, init=start, n_init=1, random_state=0, algorithm="lloyd").fit(x)
    theirs = Theirs(4, init=start, n_init=1, random_state=0, algorithm="lloyd").fit(x)
    check(result.cluster_centers_, theirs.cluster_centers_, 1e-3)
    check(result.labels_, theirs.labels_)


@case
@onemkl
def kmeans_predict():
    from sklearn.cluster import KMeans as Theirs
    from sklearnex.cluster import KMeans
    x, _ = blobs()
    start = x[:4]
    with offloaded():
        result = KMeans(4, init=start, n_init=1, algorithm="lloyd").fit(x).predict(x[:100])
    check(result, Theirs(4, init=start, n_init=1, algorithm="lloyd").fit(x).predict(x[:100]))


@case
def dbscan():
    from sklearn.cluster import DBSCAN as Theirs
    from sklearnex.cluster import DBSCAN
    x, _ = blobs()
    with offloaded():
        result = DBSCAN(eps=2.0, min_samples=5).fit(x)
    theirs = Theirs(eps=2.0, min_samples=5).fit(x)
    check(len(set(result.labels_)), len(set(theirs.labels_)))
    check(result.labels_ == -1, theirs.labels_ == -1)


@case
def forest_classifier():
    from sklearnex.ensemble import RandomForestClassifier
    x, y = classification()
    with offloaded():
        found = score(RandomForestClassifier(20, max_depth=8, random_state=0), x, y)
    assert found > 0.95, f"accuracy {found}"


@case
def forest_regressor():
    from sklearnex.ensemble import RandomForestRegressor
    x, y = regression()
    with offloaded():
        found = score(RandomForestRegressor(20, max_depth=8, random_state=0), x, y)
    assert found > 0.9, f"R2 {found}"


@case
def extra_trees_classifier():
    from sklearnex.ensemble import ExtraTreesClassifier
    x, y = classification()
    with offloaded():
        found = score(ExtraTreesClassifier(20, max_depth=8, random_state=0), x, y)
    assert found > 0.9, f"accuracy {found}"


@case
def extra_trees_regressor():
    from sklearnex.ensemble import ExtraTreesRegressor
    x, y = regression()
    with offloaded():
        found = score(ExtraTreesRegressor(20, max_depth=8, random_state=0), x, y)
    assert found > 0.85, f"R2 {found}"


@case
@onemkl
def neighbors_classifier():
    from sklearn.neighbors import KNeighborsClassifier as Theirs
    from sklearnex.neighbors import KNeighborsClassifier
    x, y = classification(classes=3)
    with offloaded():
        result = KNeighborsClassifier(5, algorithm="brute").fit(x, y).predict(x)
    theirs = Theirs(5, algorithm="brute").fit(x, y).predict(x)
    assert np.mean(result == theirs) > 0.995, f"{np.mean(result == theirs)} are equal"


@case
@onemkl
def neighbors_regressor():
    from sklearn.neighbors import KNeighborsRegressor as Theirs
    from sklearnex.neighbors import KNeighborsRegressor
    x, y = regression()
    with offloaded():
        result = KNeighborsRegressor(5, algorithm="brute").fit(x, y).predict(x)
    check(result, Theirs(5, algorithm="brute").fit(x, y).predict(x), 1e-3)


@case
@onemkl
def nearest_neighbors():
    from sklearn.neighbors import NearestNeighbors as Theirs
    from sklearnex.neighbors import NearestNeighbors
    x, _ = blobs()
    with offloaded():
        distances, _ = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(x).kneighbors(x[:200] + 0.5)
    check(distances, Theirs(n_neighbors=4, algorithm="brute").fit(x).kneighbors(x[:200] + 0.5)[0], 1e-3)


@case
@onemkl
def local_outlier_factor():
    from sklearn.neighbors import LocalOutlierFactor as Theirs
    from sklearnex.neighbors import LocalOutlierFactor
    x, _ = blobs()
    with offloaded():
        result = LocalOutlierFactor(20, algorithm="brute").fit(x).negative_outlier_factor_
    check(result, Theirs(20, algorithm="brute").fit(x).negative_outlier_factor_, 1e-2)


@case
@onemkl
def linear_regression():
    from sklearn.linear_model import LinearRegression as Theirs
    from sklearnex.linear_model import LinearRegression
    x, y = regression()
    with offloaded():
        result = LinearRegression().fit(x, y)
        there = result.predict(x)
    theirs = Theirs().fit(x, y)
    check(result.coef_, theirs.coef_, 1e-3)
    check(there, theirs.predict(x), 1e-3)


@case
@onemkl
def incremental_linear_regression():
    from sklearn.linear_model import LinearRegression as Theirs
    from sklearnex.linear_model import IncrementalLinearRegression
    x, y = regression()
    with offloaded():
        result = IncrementalLinearRegression()
        for part in np.array_split(np.arange(len(x)), 3):
            result.partial_fit(x[part], y[part])
        coefficients = np.ravel(result.coef_)
    check(coefficients, Theirs().fit(x, y).coef_, 1e-3)


@case
@onemkl
def ridge():
    from sklearn.linear_model import Ridge as Theirs
    from sklearnex.linear_model import Ridge
    x, y = regression()
    with offloaded():
        result = Ridge(alpha=0.5).fit(x, y)
    check(np.ravel(result.coef_), Theirs(alpha=0.5).fit(x, y).coef_, 1e-3)


@case
@onemkl
def incremental_ridge():
    from sklearn.linear_model import Ridge as Theirs
    from sklearnex.linear_model import IncrementalRidge
    x, y = regression()
    with offloaded():
        result = IncrementalRidge(alpha=0.5)
        for part in np.array_split(np.arange(len(x)), 3):
            result.partial_fit(x[part], y[part])
        coefficients = np.ravel(result.coef_)
    check(coefficients, Theirs(alpha=0.5).fit(x, y).coef_, 1e-3)


@case
@onemkl
def logistic_regression():
    from sklearn.linear_model import LogisticRegression as Theirs
    from sklearnex.linear_model import LogisticRegression
    x, y = classification()
    with offloaded():
        result = LogisticRegression(solver="newton-cg").fit(x, y)
        there = result.predict_proba(x)
    check(there, Theirs(solver="newton-cg").fit(x, y).predict_proba(x), 1e-2)


@case
@onemkl
def svc():
    from sklearn.svm import SVC as Theirs
    from sklearnex.svm import SVC
    x, y = classification(300)
    with offloaded():
        result = SVC(kernel="rbf", C=1.0).fit(x, y).predict(x)
    theirs = Theirs(kernel="rbf", C=1.0).fit(x, y).predict(x)
    assert np.mean(result == theirs) > 0.98, f"{np.mean(result == theirs)} are equal"


if __name__ == "__main__":
    main()

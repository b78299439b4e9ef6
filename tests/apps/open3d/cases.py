# SPDX-License-Identifier: MIT
"""Open3D on a SYCL device: tensors, linear algebra, neighbours, hash sets, images and point clouds,
beside numpy and Open3D's own CPU device.
"""
import numpy as np
import open3d as o3d
import open3d.core as o3c
from app_cases import case, check, main

CPU = o3c.Device("CPU:0")
DEVICE = o3c.Device("SYCL:0")
random = np.random.default_rng(1)


def there(array, dtype=None):
    return o3c.Tensor(np.ascontiguousarray(array), device=DEVICE) if dtype is None else \
        o3c.Tensor(np.ascontiguousarray(array), dtype, DEVICE)


def here(tensor):
    return tensor.cpu().numpy()


def points(count=2000, scale=1.0):
    return (random.random((count, 3)) * scale).astype(np.float32)


def cloud(array, device):
    return o3d.t.geometry.PointCloud(o3c.Tensor(array, device=device))


def surface(count=2000):
    """Points of a bent sheet, which has normals."""
    xy = random.random((count, 2)).astype(np.float32)
    return np.column_stack([xy, 0.3 * np.sin(3 * xy[:, 0]) * np.cos(2 * xy[:, 1])]).astype(np.float32)


# Tensors

@case
def copies():
    a = random.random((37, 53)).astype(np.float32)
    check(here(there(a)), a)
    check(here(there(a).clone()), a)
    check(here(there(a).T().contiguous()), a.T)
    check(here(o3c.Tensor.full((5, 7), 3, o3c.int32, DEVICE)), np.full((5, 7), 3))
    check(here(o3c.Tensor.arange(0, 100, 3, o3c.int64, device=DEVICE)), np.arange(0, 100, 3))
    check(here(o3c.Tensor.eye(6, o3c.float32, DEVICE)), np.eye(6, dtype=np.float32))


@case
def arithmetic():
    a, b = random.random((64, 33)).astype(np.float32), random.random((64, 33)).astype(np.float32) + 0.5
    x, y = there(a), there(b)
    for result, expected in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (x * 3 + 1, a * 3 + 1),
                             (-x, -a), (x + y[0], a + b[0])):
        check(here(result), expected)


@case
def arithmetic_in_place():
    a, b = random.random(1000).astype(np.float32), random.random(1000).astype(np.float32) + 0.5
    x = there(a)
    x += there(b)
    x *= 2.0
    x.sqrt_()
    check(here(x), np.sqrt((a + b) * 2))


@case
def integers():
    a, b = random.integers(-1000, 1000, 500), random.integers(1, 50, 500)
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        p, q = a.astype(kind), b.astype(kind)
        check(here(there(p) + there(q)), p + q)
        check(here(there(p) * there(q)), p * q)


@case
def double_precision():
    a = random.random((20, 20))
    check(here(there(a) * 2.0 + 1.0), a * 2 + 1, 1e-12)
    check(here(there(a).sqrt()), np.sqrt(a), 1e-12)


@case
def unary():
    a = (random.random(777) * 4 - 2).astype(np.float32)
    x = there(a)
    for result, expected in ((x.abs(), abs(a)), (x.sin(), np.sin(a)), (x.cos(), np.cos(a)), (x.exp(), np.exp(a)),
                             (x.abs().sqrt(), np.sqrt(abs(a))), (x.floor(), np.floor(a)), (x.ceil(), np.ceil(a)),
                             (x.trunc(), np.trunc(a)), (x.round(), np.round(a)), (x.clip(-1, 1), a.clip(-1, 1))):
        check(here(result), expected)


@case
def comparisons():
    a, b = random.integers(0, 5, (40, 40)), random.integers(0, 5, (40, 40))
    x, y = there(a), there(b)
    for result, expected in ((x == y, a == b), (x != y, a != b), (x < y, a < b), (x <= y, a <= b), (x > y, a > b),
                             (x >= y, a >= b), ((x > 1).logical_and(y > 1), (a > 1) & (b > 1)),
                             ((x > 1).logical_or(y > 1), (a > 1) | (b > 1)), ((x > 1).logical_not(), ~(a > 1))):
        check(here(result), expected)


@case
def infinities():
    a = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    x = there(a)
    for result, expected in ((x.isnan(), np.isnan(a)), (x.isinf(), np.isinf(a)), (x.isfinite(), np.isfinite(a))):
        check(here(result), expected)


@case
def conversions():
    a = (random.random(300) * 100).astype(np.float32)
    for ours, theirs in ((o3c.int32, np.int32), (o3c.float64, np.float64), (o3c.uint8, np.uint8), (o3c.int64, np.int64)):
        check(here(there(a).to(ours)), a.astype(theirs))


@case
def reductions():
    a = random.random((50, 60)).astype(np.float32)
    x = there(a)
    for dimension in (0, 1):
        check(here(x.sum((dimension,))), a.sum(dimension))
        check(here(x.min((dimension,))), a.min(dimension))
        check(here(x.max((dimension,))), a.max(dimension))
        check(here(x.mean((dimension,))), a.mean(dimension))
    check(here(x.sum()), a.sum(), 1e-3)
    check(here((x * 0.1 + 0.95).prod((1,))), (a * 0.1 + 0.95).prod(1), 1e-3)


@case
def large_reduction():
    a = random.random(1000003).astype(np.float32)
    check(here(there(a).sum()), a.sum(dtype=np.float64), 1e-3)
    check(here(there(a).max()), a.max())


@case
def arg_reductions():
    a = random.permutation(3000).reshape(50, 60).astype(np.float32)
    for dimension in (0, 1):
        check(here(there(a).argmin((dimension,))), a.argmin(dimension))
        check(here(there(a).argmax((dimension,))), a.argmax(dimension))


@case
def logical_reductions():
    a = random.random(1000) > 0.5
    assert bool(here(there(a).any())) and not bool(here(there(a).all()))
    assert bool(here(there(np.ones(1000, bool)).all()))


@case
def indexing():
    a = random.random((100, 40)).astype(np.float32)
    index = random.integers(0, 100, 30)
    check(here(there(a)[there(index)]), a[index])
    check(here(there(a)[10:90:3, 5:30]), a[10:90:3, 5:30])
    x = there(a)
    x[there(index)] = 7.0
    expected = a.copy()
    expected[index] = 7.0
    check(here(x), expected)


@case
def nonzero_and_masks():
    a = random.random((60, 50)).astype(np.float32)
    check(here(there(a > 0.5).nonzero(as_tuple=True)), np.array(np.nonzero(a > 0.5)))
    check(here(there(a)[there(a > 0.5)]), a[a > 0.5])


@case
def joins():
    a, b = random.random((10, 4)).astype(np.float32), random.random((6, 4)).astype(np.float32)
    check(here(o3c.concatenate((there(a), there(b)), 0)), np.concatenate((a, b)))
    check(here(o3c.append(there(a), there(b), 0)), np.concatenate((a, b)))
    check(here(o3c.maximum(there(a[:6]), there(b))), np.maximum(a[:6], b))
    check(here(there(np.arange(12)).reshape((3, 4)).T()), np.arange(12).reshape(3, 4).T)


# Linear algebra, which is oneMKL's

def matrix(n=24, kind=np.float32):
    return (random.random((n, n)) + n * np.eye(n) / 4).astype(kind)


@case
def matmul():
    a, b = random.random((33, 47)).astype(np.float32), random.random((47, 21)).astype(np.float32)
    check(here(there(a) @ there(b)), a @ b, 1e-4)


@case
def matmul_double():
    a, b = random.random((33, 47)), random.random((47, 21))
    check(here(there(a) @ there(b)), a @ b, 1e-12)


@case
def addmm():
    a, b, c = random.random((9, 12)), random.random((12, 7)), random.random((9, 7))
    check(here(o3c.addmm(there(c), there(a), there(b), 2.0, 3.0)), 2 * (a @ b) + 3 * c, 1e-10)


@case
def lu():
    a = matrix()
    permutation, lower, upper = o3c.lu(there(a))
    check(here(permutation) @ here(lower) @ here(upper), a, 1e-4)


@case
def inverse():
    a = matrix()
    check(here(there(a).inv()), np.linalg.inv(a), 1e-3)


@case
def determinant():
    a = matrix(4)
    # The sign is Open3D's, on its CPU device, too.
    check(there(a).det(), o3c.Tensor(a).det(), 1e-3)


@case
def solve():
    a, b = matrix(), random.random((24, 3)).astype(np.float32)
    check(here(there(a).solve(there(b))), np.linalg.solve(a, b), 1e-3)


@case
def lstsq():
    a, b = random.random((40, 6)).astype(np.float32), random.random((40, 2)).astype(np.float32)
    check(here(there(a).lstsq(there(b))), np.linalg.lstsq(a, b, rcond=None)[0], 1e-3)


@case
def svd():
    a = random.random((20, 8)).astype(np.float32)
    u, s, vt = there(a).svd()
    check(here(s), np.linalg.svd(a)[1], 1e-3)
    check(here(u)[:, :8] @ np.diag(here(s)) @ here(vt), a, 1e-3)


@case
def triangles():
    a = matrix(10)
    check(here(there(a).triu()), np.triu(a))
    check(here(there(a).tril()), np.tril(a))


# Neighbours

def distances(a, b):
    return ((a[:, None].astype(np.float64) - b[None]) ** 2).sum(2)


@case
def nearest_neighbours():
    a, b = points(800), points(50)
    search = o3c.nns.NearestNeighborSearch(there(a))
    assert search.knn_index()
    index, squared = search.knn_search(there(b), 6)
    expected = np.sort(distances(b, a), 1)[:, :6]
    check(np.sort(here(squared), 1), expected, 1e-3)
    check(np.sort(np.take_along_axis(distances(b, a), here(index).astype(int), 1), 1), expected, 1e-3)


@case
def radius_neighbours():
    a, b = points(800), points(50)
    search = o3c.nns.NearestNeighborSearch(there(a))
    assert search.fixed_radius_index(0.15)
    _, _, splits = search.fixed_radius_search(there(b), 0.15)
    check(np.diff(here(splits)), (distances(b, a) <= 0.15 ** 2).sum(1))


@case
def hybrid_neighbours():
    a, b = points(800), points(50)
    search = o3c.nns.NearestNeighborSearch(there(a))
    assert search.hybrid_index(0.15)
    _, _, counts = search.hybrid_search(there(b), 0.15, 8)
    check(here(counts), np.minimum((distances(b, a) <= 0.15 ** 2).sum(1), 8))


# Hash sets and maps

@case
def hash_set():
    keys = random.integers(0, 60, (2000, 3)).astype(np.int32)
    table = o3c.HashSet(4000, o3c.int32, (3,), DEVICE)
    _, masks = table.insert(there(keys))
    unique = np.unique(keys, axis=0)
    check(int(here(masks).sum()), len(unique))
    check(table.size(), len(unique))
    _, found = table.find(there(np.vstack([unique[:100], unique[:100] + 100]).astype(np.int32)))
    check(here(found), np.repeat([True, False], 100))
    table.erase(there(unique[:50]))
    check(table.size(), len(unique) - 50)


@case
def hash_map():
    keys = random.permutation(5000)[:1000].astype(np.int64).reshape(-1, 1)
    values = random.random((1000, 2)).astype(np.float32)
    table = o3c.HashMap(2000, o3c.int64, (1,), o3c.float32, (2,), DEVICE)
    table.insert(there(keys), there(values))
    index, found = table.find(there(keys[::-1]))
    assert here(found).all()
    check(here(table.value_tensor()[index.to(o3c.int64)]), values[::-1])


# Images

def photo():
    return random.random((60, 80, 1)).astype(np.float32)


@case
def images():
    a = photo()
    image, theirs = (o3d.t.geometry.Image(o3c.Tensor(a, device=d)) for d in (DEVICE, CPU))
    # The CPU device rounds, a SYCL device cuts.
    check(here(image.to(o3c.uint8, False, 255.0, 0.0).as_tensor()).astype(float),
          here(theirs.to(o3c.uint8, False, 255.0, 0.0).as_tensor()).astype(float), 1.1 / 255)
    check(here(image.linear_transform(2.0, 1.0).as_tensor()), here(theirs.linear_transform(2.0, 1.0).as_tensor()))


@case
def image_filters():
    a = photo()
    image, theirs = (o3d.t.geometry.Image(o3c.Tensor(a, device=d)) for d in (DEVICE, CPU))
    check(here(image.filter_gaussian(5, 1.0).as_tensor()), here(theirs.filter_gaussian(5, 1.0).as_tensor()), 1e-2)
    check(here(image.filter_sobel(3)[0].as_tensor()), here(theirs.filter_sobel(3)[0].as_tensor()), 1e-2)
    check(here(image.pyrdown().as_tensor()), here(theirs.pyrdown().as_tensor()), 1e-2)


# Point clouds

@case
def transform_points():
    a = points()
    angle = np.eye(4)
    angle[:3, :3] = o3d.geometry.get_rotation_matrix_from_xyz((0.1, 0.4, -0.2))
    angle[:3, 3] = (1, 2, 3)
    result = cloud(a, DEVICE).transform(there(angle))
    check(here(result.point.positions), a @ angle[:3, :3].T + angle[:3, 3], 1e-4)
    check(here(cloud(a, DEVICE).translate(there(np.array([1, 2, 3], np.float32))).point.positions), a + [1, 2, 3])
    check(here(cloud(a, DEVICE).scale(2.0, there(np.zeros(3, np.float32))).point.positions), a * 2)


@case
def bounds():
    a = points()
    check(here(cloud(a, DEVICE).get_min_bound()), a.min(0))
    check(here(cloud(a, DEVICE).get_max_bound()), a.max(0))
    check(here(cloud(a, DEVICE).get_center()), a.mean(0))


@case
def voxels():
    a = points(3000)
    result, theirs = (cloud(a, d).voxel_down_sample(0.1) for d in (DEVICE, CPU))
    check(len(here(result.point.positions)), len(here(theirs.point.positions)))
    check(np.sort(here(result.point.positions)[:, 0]), np.sort(here(theirs.point.positions)[:, 0]), 1e-3)


@case
def normals():
    a = surface(1000)
    result, theirs = cloud(a, DEVICE), cloud(a, CPU)
    for one in (result, theirs):
        one.estimate_normals(20)
    dot = np.abs((here(result.point.normals) * here(theirs.point.normals)).sum(1))
    assert np.mean(dot > 0.99) > 0.98, f"{np.mean(dot > 0.99):.3f} of the normals agree"


@case
def outliers():
    a = np.vstack([points(800), points(20) + 5])
    kept, mask = cloud(a.astype(np.float32), DEVICE).remove_radius_outliers(5, 0.2)
    _, theirs = cloud(a.astype(np.float32), CPU).remove_radius_outliers(5, 0.2)
    check(here(mask), here(theirs))


@case
def depth_image():
    depth = (random.random((48, 64)) + 1).astype(np.float32)
    intrinsic = o3c.Tensor(np.array([[50.0, 0, 32], [0, 50, 24], [0, 0, 1]]))
    result, theirs = (o3d.t.geometry.PointCloud.create_from_depth_image(
        o3d.t.geometry.Image(o3c.Tensor(depth, device=d)), intrinsic, depth_scale=1.0) for d in (DEVICE, CPU))
    first, second = here(result.point.positions), here(theirs.point.positions)
    check(first[np.lexsort(first.T)], second[np.lexsort(second.T)], 1e-4)


@case
def voxel_grid():
    depth = o3d.t.geometry.Image(o3c.Tensor((np.ones((48, 64)) * 1000).astype(np.uint16)))
    intrinsic, pose = o3c.Tensor(np.array([[50.0, 0, 32], [0, 50, 24], [0, 0, 1]])), o3c.Tensor(np.eye(4))
    results = []
    for device in (DEVICE, CPU):
        grid = o3d.t.geometry.VoxelBlockGrid(("tsdf", "weight"), (o3c.float32, o3c.float32), ((1), (1)), 0.05, 8, 1000,
                                             device)
        on_device = depth.to(device)
        blocks = grid.compute_unique_block_coordinates(on_device, intrinsic, pose, 1000.0, 3.0)
        grid.integrate(blocks, on_device, intrinsic, pose, 1000.0, 3.0)
        active = grid.hashmap().active_buf_indices().to(o3c.int64)
        results.append([here(grid.attribute(name)[active]).sum() for name in ("tsdf", "weight")] + [len(here(active))])
    check(*results, 1e-2)


def registration(estimation):
    a = surface(1500)
    moved = np.eye(4)
    moved[:3, :3] = o3d.geometry.get_rotation_matrix_from_xyz((0.02, -0.03, 0.02))
    moved[:3, 3] = (0.01, 0.005, -0.01)
    b = (a @ moved[:3, :3].T + moved[:3, 3]).astype(np.float32)
    source, target = cloud(a, DEVICE), cloud(b, DEVICE)
    target.estimate_normals(20)
    result = o3d.t.pipelines.registration.icp(source, target, 0.1, o3c.Tensor(np.eye(4)), estimation)
    check(here(result.transformation), moved, 1e-2)
    assert result.fitness > 0.95, f"fitness {result.fitness}"


@case
def icp_points():
    registration(o3d.t.pipelines.registration.TransformationEstimationPointToPoint())


@case
def icp_planes():
    registration(o3d.t.pipelines.registration.TransformationEstimationPointToPlane())


@case
def features():
    a = surface(600)
    theirs = cloud(a, CPU)
    theirs.estimate_normals(20)
    theirs.orient_normals_to_align_with_direction()
    ours = cloud(a, DEVICE)
    ours.point.normals = theirs.point.normals.to(DEVICE)
    first, second = (here(o3d.t.pipelines.registration.compute_fpfh_feature(one, 30, 0.2)) for one in (ours, theirs))
    differing = np.mean(np.abs(first - second).max(1) > 1.0)
    assert differing < 0.05, f"{differing:.3f} of the features differ"


# Meshes

@case
def mesh_normals():
    results = []
    for device in (DEVICE, CPU):
        mesh = o3d.t.geometry.TriangleMesh.create_sphere(1.0, 20, device=device)
        mesh.compute_triangle_normals()
        results.append(here(mesh.triangle.normals))
    check(*results)


if __name__ == "__main__":
    main()

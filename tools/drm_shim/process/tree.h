// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_TREE_H
#define DRM_SHIM_TREE_H

#define SHIM_NODE_MAJOR 226
#define SHIM_NODE_MINOR 128 // of the first one

// The files that a driver looks at to find its devices: a small tree of ordinary files in a folder
// of the user's own, made on first use.

// The path to open instead of one in the tree; other paths come back as they are. `buffer` has
// PATH_MAX bytes.
const char *shim_tree_path(const char *path, char *buffer);
// Takes the folder off a path that leads into the tree, in place.
void shim_tree_strip(char *path);
// The number of the render node that the path is of; -1: of none.
int shim_tree_node(const char *path);

#endif

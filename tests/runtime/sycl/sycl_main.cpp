// SPDX-License-Identifier: MIT
int story_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return story_main(argc, argv);
}

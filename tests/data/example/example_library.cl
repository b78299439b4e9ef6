// SPDX-License-Identifier: MIT
// A translation unit that offers a function to others.
float apply_gain(float value, float gain)
{
    return value * gain + 1.0f;
}

/* Vectors of three numbers. Only + − × ÷ and square roots: the picture has the same bytes on every machine. */
#pragma once

#include <cmath>

struct Vector {
  double x = 0, y = 0, z = 0;

  friend constexpr Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend constexpr Vector operator*(double s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
  /* Component by component: light times colour. */
  friend constexpr Vector operator*(Vector a, Vector b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
};

constexpr double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vector cross(Vector a, Vector b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double length(Vector a) { return std::sqrt(dot(a, a)); }
inline Vector unit(Vector a) { return (1 / length(a)) * a; }

struct Ray {
  Vector from, along; /* `along` has length 1 */
  Vector at(double t) const { return from + t * along; }
};

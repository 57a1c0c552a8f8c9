"""Every thing that drawn scenes can show, by name.

A painter takes (color, accent, scale, mirrored); `accent` is a second colour that some
kinds have on one part (a roof, a sail).
"""

from collections.abc import Callable

from gcap_tf.data.scenes import (
  scene_furniture,
  scene_outdoors,
  scene_pen,
  scene_toys,
  scene_vehicles,
)

PAINTERS: dict[str, Callable[[scene_pen.Color, scene_pen.Color, float, bool], scene_pen.Pen]] = {
  "house": scene_outdoors.paint_house,
  "tree": scene_outdoors.paint_tree,
  "pine": scene_outdoors.paint_pine,
  "ball": scene_toys.paint_ball,
  "car": scene_vehicles.paint_car,
  "boat": scene_vehicles.paint_boat,
  "kite": scene_toys.paint_kite,
  "umbrella": scene_toys.paint_umbrella,
  "bench": scene_furniture.paint_bench,
  "bicycle": scene_vehicles.paint_bicycle,
  "table": scene_furniture.paint_table,
  "chair": scene_furniture.paint_chair,
  "sofa": scene_furniture.paint_sofa,
  "cup": scene_furniture.paint_cup,
  "flower": scene_outdoors.paint_flower,
  "sun": scene_outdoors.paint_sun,
  "snowman": scene_outdoors.paint_snowman,
  "lamp": scene_furniture.paint_lamp,
  "balloon": scene_toys.paint_balloon,
  "sandcastle": scene_outdoors.paint_castle,
}

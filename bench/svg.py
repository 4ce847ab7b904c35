# SPDX-License-Identifier: GPL-2.0
#
# Plots as text: what they need of SVG, and no more.
"""Write SVG."""


class Svg:
    """Just enough of SVG."""

    def __init__(self, width, height):
        self.size = width, height
        self.parts = []

    def rect(self, x, y, w, h, fill):
        """A filled rectangle."""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" '
                          f'height="{h:.1f}" fill="{fill}"/>')

    def line(self, points, colour, width=1.0, dash=""):
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{path}" fill="none" '
                          f'stroke="{colour}" stroke-width="{width}"{dash} '
                          'stroke-linejoin="round"/>')

    def dot(self, x, y, colour, radius=3.5):
        """A filled circle."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" '
                          f'fill="{colour}"/>')

    def text(self, x, y, words, anchor="start", size=12, weight="normal",
             colour="#22262b"):
        """Words, their baseline at y."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
                          f'text-anchor="{anchor}" font-weight="{weight}" '
                          f'fill="{colour}">{words}</text>')

    def __str__(self):
        w, h = self.size
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" '
                f'height="{h}" viewBox="0 0 {w} {h}" '
                'font-family="DejaVu Sans, Verdana, Arial, sans-serif">\n'
                f'<rect width="{w}" height="{h}" fill="white"/>\n{body}\n'
                '</svg>\n')

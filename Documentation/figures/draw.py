#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draw the figures of the documentation as SVG.

    draw.py [--check] [DIR]

Writes DIR/*.svg (DIR: this folder). With --check nothing is written; exit 1
if a drawing differs from what lies there. One function a figure; a figure is
lanes with time running from left to right.
"""
import os
import sys
from xml.sax.saxutils import escape

INK, SOFT, GOOD, BAD, CLOCK = '#222', '#888', '#2a7d4f', '#b3362b', '#2b5fa8'


class Figure:
    """Lanes, and what happens in them at a time."""

    def __init__(self, title, width, lanes, top=46, gap=74):
        self.width, self.top, self.gap = width, top, gap
        self.left = 118
        self.lanes = {name: top + 22 + i * gap
                      for i, name in enumerate(lanes)}
        self.height = top + len(lanes) * gap + 30
        self.body = []
        self.text(14, 22, title, weight='bold', size=15)
        for name, y in self.lanes.items():
            self.text(14, y + 4, name, weight='bold')
            self.line(self.left, y, width - 18, y, SOFT, 1)

    def put(self, markup):
        self.body.append(markup)

    def text(self, x, y, text, colour=INK, anchor='start', size=12.5,
             weight='normal'):
        self.put('<text x="%g" y="%g" fill="%s" text-anchor="%s" '
                 'font-size="%g" font-weight="%s">%s</text>' %
                 (x, y, colour, anchor, size, weight, escape(text)))

    def line(self, x1, y1, x2, y2, colour=INK, width=1.5, dash=None):
        self.put('<line x1="%g" y1="%g" x2="%g" y2="%g" stroke="%s" '
                 'stroke-width="%g"%s/>' %
                 (x1, y1, x2, y2, colour, width,
                  ' stroke-dasharray="%s"' % dash if dash else ''))

    def span(self, lane, x1, x2, label, colour, below=False):
        """Something that lasts: a bar on the lane."""
        y = self.lanes[lane]
        self.put('<rect x="%g" y="%g" width="%g" height="12" rx="3" '
                 'fill="%s" fill-opacity="0.22" stroke="%s"/>' %
                 (x1, y - 6, x2 - x1, colour, colour))
        self.text((x1 + x2) / 2, y + (25 if below else -13), label, colour,
                  'middle')

    def dot(self, lane, x, label, colour=INK, below=True):
        """Something that happens: a dot on the lane."""
        y = self.lanes[lane]
        self.put('<circle cx="%g" cy="%g" r="5" fill="%s"/>' %
                 (x, y, colour))
        self.text(x, y + (25 if below else -13), label, colour, 'middle')

    def fall(self, x, first, last, colour):
        """A vertical line between two lanes: the same moment."""
        self.line(x, self.lanes[first], x, self.lanes[last], colour, 1.2,
                  '4 4')

    def note(self, text, colour):
        self.text(self.width / 2, self.height - 14, text, colour, 'middle',
                  13)

    def svg(self):
        return ('<!-- SPDX-License-Identifier: GPL-2.0 -->\n'
                '<svg xmlns="http://www.w3.org/2000/svg" width="%d" '
                'height="%d" viewBox="0 0 %d %d" '
                'font-family="sans-serif">\n'
                '<rect width="100%%" height="100%%" fill="white"/>\n'
                '%s\n</svg>\n' %
                (self.width, self.height, self.width, self.height,
                 '\n'.join(self.body)))


def race():
    """How the clock read at the round's start gives a late record."""
    fig = Figure('The race: flush up to the clock read at the start of the '
                 'round', 860, ['CPU 0', 'CPU 1', 'reader'])
    fig.dot('CPU 0', 150, 'stamp 100', CLOCK)
    fig.span('CPU 0', 165, 585, 'interrupt, NMI, or the host takes the CPU '
             'away', SOFT)
    fig.dot('CPU 0', 600, 'published', CLOCK)
    fig.dot('CPU 1', 215, 'stamp 105', CLOCK)
    fig.dot('CPU 1', 290, 'published', CLOCK)
    fig.dot('reader', 345, 'clock: 110')
    fig.dot('reader', 430, 'ring 0: none')
    fig.dot('reader', 515, 'ring 1: 105')
    fig.dot('reader', 605, 'delivers 105', BAD)
    fig.dot('reader', 700, 'ring 0: 100')
    fig.dot('reader', 795, 'late', BAD)
    fig.fall(600, 'CPU 0', 'reader', SOFT)
    fig.note('100 was stamped before the clock showed 110, and published '
             'after ring 0 was read.', BAD)
    return fig.svg()


def watermark():
    """How a grace period closes the race."""
    fig = Figure('The watermark: a grace period waits for everyone who may '
                 'hold a stamp below t', 860,
                 ['CPU 0', 'CPU 1', 'provider', 'reader'])
    fig.dot('CPU 0', 150, 'stamp 100', CLOCK)
    fig.span('CPU 0', 138, 500, 'RCU read-side section: stamp, reserve, '
             'write, publish', CLOCK)
    fig.dot('CPU 0', 490, 'published', CLOCK)
    fig.dot('CPU 1', 268, 'stamp 105', CLOCK)
    fig.span('CPU 1', 256, 345, 'section', CLOCK)
    fig.dot('provider', 200, 't := 102')
    fig.span('provider', 215, 530, 'grace period: every section that was '
             'open at its start ends', GOOD)
    fig.dot('provider', 545, 'W := 102', GOOD)
    fig.fall(500, 'CPU 0', 'provider', GOOD)
    fig.dot('reader', 600, 'load W', GOOD)
    fig.dot('reader', 690, 'rings: 100, 105')
    fig.dot('reader', 795, 'delivers 100', GOOD)
    fig.note('105 is held until W passes it. Nothing below W can still '
             'turn up.', GOOD)
    return fig.svg()


def house():
    """The layers; drawn by hand on a grid, as no lane fits it."""
    out = []
    boxes = [
        (250, 14, 360, 'perfclock (command), your program', '#e8e8e8'),
        (250, 74, 360, 'session: rounds, waiting, delivery', '#dbe7f6'),
        (250, 134, 112, 'ring', '#dbe7f6'),
        (374, 134, 112, 'order', '#dbe7f6'),
        (498, 134, 112, 'watermark', '#dbe7f6'),
        (498, 194, 112, 'clock', '#dbe7f6'),
        (14, 74, 190, 'perfdata: files', '#dbe7f6'),
        (14, 134, 190, 'policy: rules to compare', '#dbe7f6'),
        (250, 264, 360, 'uapi/linux/perf_clock.h', '#f6ecd2'),
        (250, 324, 360, 'perf_clock.ko: grace periods, clocks, page',
         '#dff0e4'),
    ]
    arrows = [(430, 50, 74), (306, 110, 134), (430, 110, 134),
              (554, 110, 134), (554, 170, 194), (554, 230, 264),
              (430, 300, 324)]
    for x, y, width, label, fill in boxes:
        out.append('<rect x="%d" y="%d" width="%d" height="36" rx="4" '
                   'fill="%s" stroke="%s"/>' % (x, y, width, fill, INK))
        out.append('<text x="%g" y="%d" text-anchor="middle" '
                   'font-size="13" fill="%s">%s</text>' %
                   (x + width / 2, y + 23, INK, escape(label)))
    for x, top, bottom in arrows:
        out.append('<path d="M%d %dV%dm-4 -6l4 6l4 -6" fill="none" '
                   'stroke="%s"/>' % (x, top, bottom, INK))
    return ('<!-- SPDX-License-Identifier: GPL-2.0 -->\n'
            '<svg xmlns="http://www.w3.org/2000/svg" width="626" '
            'height="374" viewBox="0 0 626 374" '
            'font-family="sans-serif">\n'
            '<rect width="100%%" height="100%%" fill="white"/>\n'
            '%s\n</svg>\n' % '\n'.join(out))


FIGURES = {'race.svg': race, 'watermark.svg': watermark, 'house.svg': house}


def main():
    args = [arg for arg in sys.argv[1:] if arg != '--check']
    folder = args[0] if args else os.path.dirname(os.path.abspath(__file__))
    bad = 0
    for name, draw in FIGURES.items():
        path = os.path.join(folder, name)
        if '--check' not in sys.argv:
            with open(path, 'w') as out:
                out.write(draw())
            continue
        with open(path) as old:
            if old.read() != draw():
                print('%s: differs from what draw.py draws' % path)
                bad = 1
    return bad


if __name__ == '__main__':
    sys.exit(main())

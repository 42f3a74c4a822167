import * as fc from 'fast-check';
import { drawSvg } from '../../../../core/design/draw-plan.ts';
import { planTask, samplePlan, withTask } from '../../../support/plans.ts';

/** Left and upper edges of the boxes in a picture. */
function boxesOf(svg: string): { x: number; y: number }[] {
  return [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)"/g)].map(([, x, y]) => ({
    x: Number(x),
    y: Number(y),
  }));
}

const arrowsOf = (svg: string): number => svg.match(/marker-end/g)?.length ?? 0;

describe('drawSvg', () => {
  it('SV1: texts of the plan stay texts, and nothing is loaded', () => {
    const svg = drawSvg(
      withTask(3, () => ({ title: '</text><image href="http://x"/>', agent: 'api_agent' })),
    );
    expect(svg).toContain('&lt;/text&gt;&lt;image');
    expect(svg).not.toMatch(/<image|<script|<[^>]* href=|url\((?!#)/);
  });

  it('SV2: every task has a box, every dependency an arrow, and no two boxes overlap', () => {
    const links = fc.array(fc.array(fc.nat(19), { maxLength: 3 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(links, (sources) => {
        const tasks = sources.map((earlier, at) => {
          const depends_on = [...new Set(earlier.filter((one) => one < at))];
          return planTask(`t${at}`, { depends_on: depends_on.map((one) => `t${one}_1727539200`) });
        });
        const svg = drawSvg(samplePlan({ tasks }));
        const boxes = boxesOf(svg);
        expect(boxes).toHaveLength(tasks.length);
        expect(arrowsOf(svg)).toBe(tasks.flatMap((task) => task.depends_on).length);
        for (const [at, one] of boxes.entries()) {
          for (const other of boxes.slice(at + 1)) {
            expect(Math.abs(one.x - other.x) >= 220 || Math.abs(one.y - other.y) >= 72).toBe(true);
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it('SV2: a cycle, a lost dependency and one on itself are drawn too', () => {
    const tasks = [
      planTask('a', { depends_on: ['b_1727539200', 'a_1727539200'] }),
      planTask('b', { depends_on: ['a_1727539200', 'ghost_1727539200'] }),
    ];
    const svg = drawSvg(samplePlan({ tasks }));
    expect(boxesOf(svg)).toHaveLength(2);
    expect(arrowsOf(svg)).toBe(2);
  });

  it('SV3: the same plan is drawn in the same bytes', () => {
    expect(drawSvg(samplePlan())).toBe(drawSvg(samplePlan()));
  });
});

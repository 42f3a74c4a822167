import * as fc from 'fast-check';
import { cutAtSection } from '../../../activities/prompts/cut-at-section.ts';

const more = 'All of it: load_detail {"detail_id":"draft"}.';
const section = (title: string, lines: number): string =>
  `## ${title}\n\n${'A line of it.\n'.repeat(lines)}\n`;

describe('a text that does not fit', () => {
  it('is cut where a section begins, and says what is missing and how to get it', () => {
    const text = section('Kept', 60) + section('Costs', 60) + section('Risks', 60);
    const cut = cutAtSection(text, 1_700, more);
    expect(cut).toContain('## Kept');
    expect(cut).not.toContain('## Costs');
    expect(cut).toMatch(
      /A line of it\.\n\[Left out: "Costs", "Risks"\. 850 of 2552 bytes are shown\. All of it: load_detail \{"detail_id":"draft"\}\.\]$/,
    );
  });

  it('is cut at a line where one section fills the room, and says in which', () => {
    const cut = cutAtSection(section('Small', 2) + section('Large', 500), 2_000, more);
    expect(cut).toContain('[Left out: the rest of "Large". ');
    expect(cut).toMatch(/A line of it\.\n\[/);
  });

  it('takes no comment in a code block for a heading', () => {
    const code = `\`\`\`sh\n${'# a comment\n'.repeat(200)}\`\`\`\n`;
    const cut = cutAtSection(section('Kept', 60) + code + section('Costs', 9), 2_000, more);
    expect(cut).toContain('the rest of "Kept", "Costs"');
  });

  it('stays whole when it fits', () => {
    expect(cutAtSection('# All\n\nof it', 12, more)).toBe('# All\n\nof it');
  });

  it('never gets longer than its limit, whatever it is', () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: 'binary', maxLength: 200 }).map((title) => `# ${title}`),
      fc.constant('```'),
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }).map((lines) => lines.join('\n')),
        fc.integer({ min: 700, max: 8_000 }),
        (text, bytesMax) => {
          expect(Buffer.byteLength(cutAtSection(text, bytesMax, more))).toBeLessThanOrEqual(
            bytesMax,
          );
        },
      ),
    );
  });
});

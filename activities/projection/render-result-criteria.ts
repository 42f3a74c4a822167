import type { CriterionState } from '../../contracts/criterion.ts';
import type { RecordedCriterion, RunRecord } from '../../contracts/run-record.ts';
import { bullets, oneLine } from './markdown.ts';

const headings: Readonly<Record<CriterionState['state'], string>> = {
  met: '### Met',
  open: '### Not met',
  waived: '### Waived by the user',
};

/** The criteria by how they ended, each with its evidence or the reason why it is not met. */
export function renderCriteria(record: RunRecord): string {
  const groups = (['met', 'open', 'waived'] as const).flatMap((state) => {
    const inState = record.criteria.filter((criterion) => criterion.state === state);
    return inState.length === 0
      ? []
      : [`${headings[state]}\n\n${bullets(inState.map(describe), '')}`];
  });
  return ['## Criteria', ...(groups.length === 0 ? ['No criterion was set.'] : groups)].join(
    '\n\n',
  );
}

function describe(criterion: RecordedCriterion): string {
  const { criterion_id, state, description, delegation_id } = criterion;
  const who = delegation_id === null || state === 'waived' ? '' : ` (${delegation_id})`;
  const what = `\`${criterion_id}\`: ${oneLine(description)}`;
  switch (state) {
    case 'met':
      return `${what}\nEvidence${who}: ${oneLine(criterion.note)}`;
    case 'open':
      return `${what}\nWhy not${who}: ${oneLine(criterion.note === '' ? 'Nobody worked on it to the end.' : criterion.note)}`;
    case 'waived':
      return what;
  }
}

import { openRootState, describeBudget, usageSoFar } from '../../workflows/shared/root-state.ts';
import { NewsFeed } from '../../workflows/shared/news-feed.ts';
import { finishAlone } from '../../workflows/shared/settle-run.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { openBudget, resolveBudget } from '../../core/budget/resolve-budget.ts';
import { checkAmend } from '../../core/run/check-control.ts';
import type { NewsItem } from '../../contracts/messages.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const pretend = <T>(part: object): T => part as T;

const instruction = (news_id: number, text: string, criteria_waived: string[] = []): NewsItem => ({
  news_id,
  type: 'instruction',
  instruction: text,
  criteria_waived,
});
const answer = (news_id: number, changed: boolean): NewsItem => ({
  news_id,
  type: 'answer',
  question_id: `q${news_id}`,
  text: 'Which region?',
  answer: 'eu-west',
  answer_ref: null,
  answered_by: 'user',
  delegation_id: null,
  changed,
});

const told = [
  instruction(1, 'Be short.'),
  instruction(2, 'Be kind.'),
  answer(3, false),
  answer(4, true),
];

/** Ends a part that was started alone. @returns what it refuses. */
async function refusedAtEnd(
  heard: number | undefined,
  news: readonly NewsItem[] = told,
): Promise<string[]> {
  const refused: string[] = [];
  const host = {
    state: { ...openRootState(null), opened: null },
    news: new NewsFeed(news),
    takeWave: () => {},
    refuse: (reason: string) => void refused.push(reason),
    finish: async () => ({ answer: '', result_path: '', report_path: '' }),
  };
  const wave = { status: 'decided', criteria: [], outcomes: [] };
  await finishAlone(pretend(host), pretend(wave), heard);
  return refused;
}

it('what came during the last call of a delegation alone is refused with the reason', async () => {
  expect(await refusedAtEnd(1)).toEqual([
    expect.stringMatching(/no call has read "Be kind\.".*Try: start a new one/u),
    expect.stringContaining('no call has read "q4: eu-west"'),
  ]);
  expect(await refusedAtEnd(4)).toEqual([]);
});

it('criteria that were given up during the last call are no instruction that a call has to read', async () => {
  const checked = checkAmend({ waive_criteria: ['c1'] });
  const written = checked.ok ? checked.amend.instruction : '';
  const waived = instruction(2, written, ['c1']);
  expect(await refusedAtEnd(1, [waived])).toEqual([]);
  expect(await refusedAtEnd(1, [waived, instruction(3, 'Be kind.', ['c2'])])).toEqual([
    expect.stringContaining('no call has read "Be kind."'),
  ]);
});

it('calls of which nothing is known are taken to have read all', async () => {
  expect(await refusedAtEnd(undefined)).toEqual([]);
});

it('the use of a run contains what its design and its judgement at work have used', () => {
  const state = openRootState(null);
  state.budget = openBudget(resolveBudget({ calls: 9 }));
  state.usage = { ...noUsage, calls: 2 };
  expect(describeBudget(state)).toBe('2 of 9 calls');
  state.judging = () => ({ ...noUsage, calls: 3 });
  expect(usageSoFar(state).calls).toBe(5);
  expect(describeBudget(state)).toBe('5 of 9 calls');
});

import { Client, Connection } from '@temporalio/client';
import { unverifiedQuestion } from '../../../core/effects/decide-approval.ts';
import { composeAnswers, OpenAnswers } from '../../chaos/answering.ts';
import { runWithTriad } from '../../chaos/runs/with-triad.ts';
import { createPrng } from '../../support/prng.ts';

const { askings } = runWithTriad;
const asked = askings.map((one, index) => ({
  question_id: `q${index + 1}`,
  text: one.asked.text,
  answer: one.answer,
  kind: 'blocking' as const,
}));
const composed = Array.from({ length: 50 }, (_one, seed) =>
  composeAnswers(asked, askings, { random: createPrng(seed) }),
);

it('what comes first to a question is its answer, whatever the order of the questions', () => {
  for (const sent of composed) {
    for (const { question_id, answer } of asked) {
      const first = sent.find((one) => one.question_id === question_id);
      expect(first).toEqual({ question_id, answer, kind: 'first' });
    }
  }
  expect(new Set(composed.map(([first]) => first?.question_id))).toEqual(new Set(['q1', 'q2']));
});

it('the user says of a call of an MCP server what the server knows, and has a file written again, but no edit made twice', () => {
  const edit = unverifiedQuestion(
    { agent_id: 'editor', delegation_id: 'w1-p4' },
    { effect_id: 'e', tool: 'edit_file', target: 'a.txt', arguments_ref: '', found: '' },
  );
  const effects = ['mcp__odd__echo {"text":"w1-p2"}', 'mcp__odd__echo {"text":"w1-p3"}', edit.text];
  const unsure = effects.map((text, at) => ({
    question_id: `q${at}`,
    text,
    kind: 'effect' as const,
  }));
  const sent = composeAnswers(unsure, [], { random: createPrng(1), outsideCalls: { 'w1-p2': 1 } });
  expect(sent.toSorted((a, b) => (a.question_id < b.question_id ? -1 : 1))).toEqual([
    { question_id: 'q0', answer: 'verified', kind: 'first' },
    { question_id: 'q1', answer: 'retry', kind: 'first' },
    { question_id: 'q2', answer: 'verified', kind: 'first' },
  ]);
});

it('some are sent again, and some late ones are other answers', () => {
  const sent = composed.flat();
  const isAnswer = ({ question_id, answer }: (typeof sent)[number]): boolean =>
    asked.some((one) => one.question_id === question_id && one.answer === answer);
  expect(sent.filter(({ kind }) => kind === 'again').map(isAnswer)).toContain(true);
  expect(sent.filter(({ kind }) => kind === 'late').map(isAnswer)).not.toContain(true);
  expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(['first', 'again', 'late']));
});

describe('looks for open questions', () => {
  let looks = 0;
  let isAway = false;
  const handle = new Client({ connection: Connection.lazy() }).workflow.getHandle('run');
  const query = async () => {
    looks += 1;
    if (isAway) throw new Error('No worker answers.');
    return { open: [] };
  };
  const open = new OpenAnswers(
    Object.assign(handle, { query }),
    () => 1,
    () => {},
  );
  afterEach(() => {
    vi.useRealTimers();
  });

  async function countLooks(ms: number): Promise<number> {
    const before = looks;
    for (let passed = 0; passed < ms; passed += 20) {
      vi.setSystemTime(Date.now() + 20);
      await open.look(() => false);
    }
    return looks - before;
  }

  it('follow an event soon and a query that failed, and others are rare', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    expect(await countLooks(200)).toBe(1);
    open.noteEvent();
    expect(await countLooks(200)).toBe(1);
    expect(await countLooks(4_000)).toBe(2);
    isAway = true;
    open.noteEvent();
    expect(await countLooks(1_000)).toBe(10);
    isAway = false;
    expect(await countLooks(1_000)).toBe(1);
  });
});

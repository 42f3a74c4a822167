import type * as Activities from '../../workflows/shared/activities.ts';
import { CompletionSession, type SessionReport } from '../../contracts/note.ts';
import {
  holdSession,
  SessionKeeper,
  takeUpSession,
} from '../../workflows/execution/session-keeper.ts';
import { nobodyAbove } from '../../workflows/shared/superior.ts';
import type { Superior } from '../../workflows/shared/superior.ts';
import { asked } from './core/builders.ts';
import { someRef } from '../support/factories.ts';

/** The session in the store, and the reports of it in the record. */
const stored = { text: '', reports: new Array<SessionReport>() };

vi.mock('../../workflows/shared/activities.ts', async (original) => ({
  ...(await original<typeof Activities>()),
  async storeText({ text }: { readonly text: string }) {
    stored.text = text;
    return { ref: someRef };
  },
  recallSession: {
    executeWithOptions: async () => ({
      session: CompletionSession.parse(JSON.parse(stored.text)),
      refused: stored.reports.at(-1)?.refused,
    }),
  },
}));

// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const pretend = <T>(part: object): T => part as T;

it('NS5: a question that was refused is not asked again by an agent that begins once more after a lost wave', async () => {
  const superior: Superior = {
    ...nobodyAbove((reason) => {
      throw new Error(reason);
    }),
    reportSession: async (report) => void stored.reports.push(report),
  };
  const place = pretend<ConstructorParameters<typeof SessionKeeper>[0]>({
    delegation: { delegation_id: 'rates', agent_id: 'writer' },
  });
  const puts: number[] = [];
  const put: Parameters<SessionKeeper['ask']>[1] = async (questions) => {
    puts.push(questions.length);
    return questions.map(() => pretend({ question_id: 'q1', answer: null, loop: true }));
  };
  await new SessionKeeper(place, superior, holdSession()).ask([asked()], put);
  const state = await takeUpSession({ session_ref: someRef, record_ref: someRef }, superior);
  await new SessionKeeper(place, superior, { state }).ask([asked()], put);
  expect(puts).toEqual([1, 0]);
});

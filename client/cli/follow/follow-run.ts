import { setTimeout as sleep } from 'node:timers/promises';
import { persist, tellNotices } from '../../persist.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import { Interrupted, type CliIo } from '../cli-io.ts';
import { exitCodes } from '../cli-error.ts';
import type { OpenQuestion } from '../../../contracts/views.ts';
import {
  answeredElsewhere,
  createQuestionDesk,
  type QuestionDesk,
} from '../ask/ask-in-terminal.ts';
import { createPresenter, type Presenter } from './presenter.ts';
import { createSnapshotReader, type SnapshotReader, type RunSnapshot } from './read-snapshot.ts';
import { exitCodeOfEnd, isAnswered, toRunEndedEvent } from './follow-event.ts';
import { commandText } from '../../../core/text/format.ts';

export interface FollowOptions {
  readonly io: CliIo;
  /** True to print one JSON document per change on standard output, and nothing else. */
  readonly json: boolean;
  /** True to answer each question that has a default with it. */
  readonly defaults: boolean;
  /** True to ask open questions in the terminal. Has no effect without one. */
  readonly askQuestions: boolean;
  /** Folder below which a worker on this machine writes; null when it writes no files. If undefined: `.planning`. */
  readonly artifactHome?: string | null | undefined;
  /** Name that signs the answers. If undefined: none. */
  readonly signer?: string | undefined;
  /** Words for the person who leaves with Ctrl-C. If undefined: that the run goes on without the person. */
  readonly describeLeaving?: ((runId: string) => string) | undefined;
  /** Interval between two reads in milliseconds. If undefined: 1,000. */
  readonly pollEveryMs?: number | undefined;
}

interface Follower extends FollowOptions {
  readonly client: PlanwaveClient;
  readonly runId: string;
  readonly reader: SnapshotReader;
  readonly presenter: Presenter;
  readonly desk: QuestionDesk;
  readonly interrupt: InterruptGuard;
  readonly everyMs: number;
  /** Aborted when following ends. */
  readonly left: AbortSignal;
}

/**
 * Shows a run until it ends, asks its questions, and survives lost connections and absent workers. Ctrl-C does not
 * change the run.
 *
 * @returns the exit code: 0 completed, 1 ended otherwise, 2 its input was refused, 130 left with Ctrl-C
 * @throws PlanwaveClientError when there is no such run, or the server can't be reached at the first read
 */
export async function followRun(
  client: PlanwaveClient,
  runId: string,
  options: FollowOptions,
): Promise<number> {
  const { io, json, defaults } = options;
  const ask = options.askQuestions && io.isTerminal && !json;
  const leaving = new AbortController();
  const follower: Follower = {
    ...options,
    client,
    runId,
    reader: createSnapshotReader(client, runId, defaults),
    presenter: createPresenter(io, { json, asksItself: ask }),
    desk: createQuestionDesk(client, runId, io, { defaults, ask, signer: options.signer }),
    interrupt: createInterruptGuard(io),
    everyMs: options.pollEveryMs ?? 1_000,
    left: leaving.signal,
  };
  try {
    return await followToEnd(follower);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    follower.presenter.release();
    tell(follower, (options.describeLeaving ?? describeLeaving)(runId));
    return exitCodes.interrupted;
  } finally {
    leaving.abort();
    follower.presenter.release();
    follower.interrupt.dispose();
  }
}

function describeLeaving(runId: string): string {
  return `Run ${runId} goes on without you. Come back with: ${commandText('watch', runId)}`;
}

async function followToEnd(follower: Follower): Promise<number> {
  const { client, reader, presenter, desk, interrupt, runId } = follower;
  let snapshot = await interrupt.guard(reader.read());
  for (;;) {
    presenter.show(snapshot);
    for (const line of desk.listAnswers(snapshot.answered)) tell(follower, line);
    for (const line of desk.listRefusals(snapshot.rejected)) tell(follower, line);
    if (snapshot.run.execution !== 'running') {
      const end = await interrupt.guard(retrying(follower, () => client.result(runId)));
      if (end !== null) {
        const home = follower.artifactHome === undefined ? '.planning' : follower.artifactHome;
        presenter.release();
        const event = toRunEndedEvent(snapshot.run, end, home);
        presenter.tell(event);
        return exitCodeOfEnd(end, event.status);
      }
    }
    const { questions } = snapshot;
    const taken = await interrupt.guard(retrying(follower, () => desk.takeDefaults(questions)));
    for (const line of taken) tell(follower, line);
    const question = desk.next(questions);
    if (question === undefined) await interrupt.guard(rest(follower));
    else await askWhileOpen(follower, question);
    snapshot = await interrupt.guard(retrying(follower, () => reader.read()));
  }
}

function rest({ everyMs, left }: Follower): Promise<void> {
  return sleep(everyMs, undefined, { signal: left });
}

function tell({ presenter, runId }: Follower, text: string): void {
  presenter.tell({ type: 'notice', run_id: runId, text });
}

/** Repeats work that fails because the server is unreachable. */
function retrying<T>(follower: Follower, work: () => Promise<T>): Promise<T> {
  const options = {
    everyMs: follower.everyMs,
    signal: follower.left,
    address: follower.client.address,
  };
  return tellNotices(persist(work, options), (text) => tell(follower, text));
}

/** Asks, and withdraws the prompt when the question is no longer open. */
async function askWhileOpen(follower: Follower, question: OpenQuestion): Promise<void> {
  const { desk, interrupt, presenter } = follower;
  const prompt = new AbortController();
  const watching = new AbortController();
  presenter.release();
  const watch = takeBackWhenClosed(follower, question, prompt, watching.signal);
  try {
    await interrupt.guard(retrying(follower, () => desk.ask(question, prompt.signal)));
  } finally {
    watching.abort();
    prompt.abort();
  }
  // Its last read must not come after the next one. Nothing is read after leaving.
  await watch;
}

async function takeBackWhenClosed(
  { reader, everyMs }: Follower,
  question: OpenQuestion,
  prompt: AbortController,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    try {
      await sleep(everyMs, undefined, { signal: stop });
      const snapshot: RunSnapshot = await reader.read();
      const isOpen = snapshot.questions.some((open) => open.question_id === question.question_id);
      if (!isOpen && snapshot.note === null) {
        prompt.abort(isAnswered(snapshot, question.question_id) ? answeredElsewhere : undefined);
        return;
      }
    } catch {
      // Stopped, or the server is briefly unreachable: the prompt stays.
    }
  }
}

/** Guard that turns Ctrl-C into a rejection of the pending work. */
interface InterruptGuard {
  /** Settles as `work` does, or rejects with `Interrupted` at Ctrl-C, whichever comes first. */
  guard<T>(work: Promise<T>): Promise<T>;
  dispose(): void;
}

function createInterruptGuard(io: CliIo): InterruptGuard {
  const interrupt = new AbortController();
  const dispose = io.onInterrupt(() => {
    interrupt.abort();
  });
  const interrupted = new Promise<never>((_resolve, reject) => {
    interrupt.signal.addEventListener('abort', () => {
      reject(new Interrupted('interrupted'));
    });
  });
  interrupted.catch(() => {});
  return {
    guard: (work) => {
      // Work that loses the race may still fail later, when its result is no longer used.
      work.catch(() => {});
      return Promise.race([work, interrupted]);
    },
    dispose,
  };
}

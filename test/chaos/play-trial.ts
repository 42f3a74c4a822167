import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Question } from '../../contracts/question.ts';
import type { BudgetView, QuestionsView } from '../../contracts/views.ts';
import type { Reply, ScriptedRequest } from '../../rehearsal/script.ts';
import { eventually } from '../support/eventually.ts';
import { countBytesBelow } from '../support/read-tree.ts';
import { findBrokenPromises } from '../support/find-broken-promises.ts';
import {
  answerQuestion,
  composeAnswers,
  isOnce,
  OpenAnswers,
  readAsked,
  sendAnswer,
} from './answering.ts';
import type { Asked } from './answering.ts';
import { Harmer } from './harmer.ts';
import { isEnd } from '../support/histories.ts';
import { watchHistories } from './history-watch.ts';
import type { HistoryWatch, SeenEvent } from './history-watch.ts';
import { kindOf } from './interruption.ts';
import type { Lane } from './lane.ts';
import { pickModelFault, slowDown } from './model-faults.ts';
import { callNameOf, shareKeys } from './call-name.ts';
import { countCalls } from './outside-facts.ts';
import { readRunFacts } from './run-facts.ts';
import type { PlayedTrial, TrialPlan } from './trial.ts';
import { describeStuck, keepHistories } from './describe-stuck.ts';
import { isAtCall, isAtEvent } from './strike.ts';
import type { Strike } from './strike.ts';

/** Bounds for a run that was left alone: without any event, and in all. They are no statement about speed. */
const idleMsMax = 300_000;
const endMsMax = 600_000;
const recordedMsMax = 120_000;
/** How long a run that was reset may stand still until its questions are looked at. */
const lookAfterMs = 10_000;

/** Plays one run on the lane: starts it, does the harm, heals, and waits for the end. The lane is left with a worker. */
export function playTrial(lane: Lane, plan: TrialPlan): Promise<PlayedTrial> {
  return new Trial(lane, plan).play();
}

class Trial {
  readonly #lane: Lane;
  readonly #plan: TrialPlan;
  readonly #runId: string;
  readonly #watch: HistoryWatch;
  readonly #harmer: Harmer;
  readonly #fired: Strike[] = [];
  /** Those whose moment has come while nobody worked. */
  readonly #due: Strike[] = [];
  readonly #asked: Asked[] = [];
  /** Keys of the calls that were answered with a fault, and the calls' names. */
  readonly #modelFaults: string[] = [];
  readonly #faultedNames: string[] = [];
  readonly #answers = { first: 0, again: 0, late: 0, refused: 0 };
  /** Work beside the run. It must end before the run is judged. */
  readonly #works: Promise<unknown>[] = [];
  /** Those that were asked before the execution at work began; a reset begins with them again. */
  #askedBefore: readonly Asked[] = [];
  readonly #continued = new Set<string>();
  readonly #open: OpenAnswers;
  #hasEnded = false;
  /** Unix epoch milliseconds of the newest event. */
  #seenAtMs = 0;
  #bytesBefore = 0;

  constructor(lane: Lane, plan: TrialPlan) {
    this.#lane = lane;
    this.#plan = plan;
    this.#runId = `${lane.taskQueue}-${plan.name}`;
    this.#watch = watchHistories(lane.client, this.#runId, (seen) => this.#see(seen));
    const run = lane.client.workflow.getHandle(this.#runId);
    const answer = (asked: Question): string | number =>
      plan.run.answerTo?.(asked) ??
      answerQuestion(asked, plan.run.askings, countCalls(lane.callLog));
    this.#open = new OpenAnswers(run, answer, () => (this.#answers.first += 1));
    const { sites } = this.#watch;
    this.#harmer = new Harmer({ lane, runId: this.#runId, random: plan.random, sites });
  }

  async play(): Promise<PlayedTrial> {
    const { client, rehearsal, taskQueue } = this.#lane;
    rmSync(this.#lane.stallFile, { force: true });
    rmSync(this.#lane.callLog, { force: true });
    this.#bytesBefore = countBytesBelow(this.#lane.home);
    try {
      if (this.#lane.workers.length === 0) await this.#lane.startWorker();
      rehearsal.reset();
      rehearsal.script([{ reply: (request) => this.#reply(request) }]);
      await client.workflow.start('plannerRun', {
        taskQueue,
        workflowId: this.#runId,
        args: [this.#plan.run.input(this.#runId, this.#lane)],
      });
      await this.#sendEarly();
      const isEnded = await this.#untilEnd();
      await Promise.all(this.#works);
      return isEnded ? await this.#judge() : await this.#giveUp();
    } finally {
      // A harm that failed half-way must not hurt the next run.
      this.#lane.gate.open();
      await this.#watch.stop();
      for (const relief of this.#lane.workers.slice(1)) await this.#lane.killWorker(relief);
    }
  }

  async #sendEarly(): Promise<void> {
    const run = this.#lane.client.workflow.getHandle(this.#runId);
    for (const one of this.#plan.run.early ?? []) {
      if (one === 'amend') await run.signal('amend', { instruction: 'Mind the costs.' });
      else {
        await run.signal('pause', { reason: 'The campaign waits.' });
        await run.signal('resume', {});
      }
    }
  }

  #see(seen: SeenEvent): void {
    this.#seenAtMs = Date.now();
    if (seen.workflowId === this.#runId && isEnd(seen)) this.#hasEnded = true;
    this.#strike(seen);
    if (seen.workflowId !== this.#runId) return;
    this.#open.noteEvent();
    if (seen.id === 1) this.#begin(seen);
    if (this.#plan.run.answerTo !== undefined) return;
    const asked = readAsked(seen, this.#asked);
    if (asked.length === 0) return;
    this.#asked.push(...asked);
    const { answering, run } = this.#plan;
    if (answering === 'at once' || answering === 'one by one') this.#goOn(this.#answer(asked));
    else if (run.asksInSteps === true) this.#goOn(this.#answerAll(asked));
    else if (this.#asked.length === run.askings.length) this.#goOn(this.#answerAll(this.#asked));
  }

  #strike(seen: SeenEvent): void {
    const { strikes, strikesLate = false } = this.#plan;
    const begun = [...this.#fired, ...this.#due];
    const come = strikes.filter((one) => !begun.includes(one) && isAtEvent(one, this.#runId, seen));
    this.#due.push(...come);
    // While the workers are away nothing can be done to them, and nothing is left to be hurt after the end.
    const strike = this.#harmer.isHurt || this.#hasEnded ? undefined : this.#due.shift();
    if (!strikesLate) this.#due.splice(0);
    if (strike === undefined) return;
    this.#fired.push(strike);
    this.#goOn(this.#hurt(strike));
  }

  #hurt(strike: Strike, before = async (): Promise<unknown> => undefined): Promise<void> {
    const kindUnhit = kindOf({ ...strike, blow: { type: 'kill worker' } });
    return this.#harmer.hurt(strike.blow, kindOf(strike), { before, kindUnhit });
  }

  /** A continuation goes on with its questions; a reset asks those of its execution again. */
  #begin({ event }: SeenEvent): void {
    const { continuedExecutionRunId: before } = event.workflowExecutionStartedEventAttributes ?? {};
    if (before && !this.#continued.has(before)) {
      this.#continued.add(before);
      this.#askedBefore = [...this.#asked];
    } else this.#asked.splice(this.#askedBefore.length);
  }

  async #reply(request: ScriptedRequest): Promise<Reply> {
    const { strikes, run, modelFaultChance } = this.#plan;
    const name = callNameOf(request);
    const strike = strikes.find((one) => !this.#fired.includes(one) && isAtCall(one, name));
    if (strike === undefined) {
      const pace = this.#plan.random.fork(`pace of ${name}`);
      return this.#faultOf(request) ?? slowDown(run.replyTo(request), pace, modelFaultChance);
    }
    await this.#harmer.healed();
    // Another blow may have cut this call off meanwhile; then the next attempt at it is struck.
    if (this.#fired.includes(strike) || !this.#isInFlight(request)) {
      return run.replyTo(request);
    }
    return this.#replyUnder(strike, request);
  }

  #isInFlight({ index }: ScriptedRequest): boolean {
    return this.#lane.rehearsal.calls()[index - 1]?.outcome === null;
  }

  #faultOf(request: ScriptedRequest): Reply | null {
    // By its name: after a question about the budget, a call is made under another key.
    const name = callNameOf(request);
    const before = this.#faultedNames.filter((one) => one === name).length;
    const random = this.#plan.random.fork(`fault ${before} of ${name}`);
    if (before >= 2 || !random.chance(this.#plan.modelFaultChance)) return null;
    this.#faultedNames.push(name);
    this.#modelFaults.push(request.callKey);
    return pickModelFault(random);
  }

  /** Strikes inside a call, and lets the model answer as if nothing had happened. */
  async #replyUnder(strike: Strike, request: ScriptedRequest): Promise<Reply> {
    const { blow, moment } = strike;
    const reply = this.#plan.run.replyTo(request);
    this.#fired.push(strike);
    if (moment.at === 'call' && moment.stage === 'recorded') {
      const before = async (): Promise<void> => {
        this.#lane.gate.hold();
        await this.#untilRecorded(request.callKey);
      };
      this.#goOn(this.#hurt(strike, before));
      // The gate is closed before the reply is on its way.
      await sleep(0);
      return reply;
    }
    const pauseMs = this.#plan.random.integer(0, 400);
    const hurting = this.#hurt(strike, () => sleep(pauseMs));
    this.#goOn(hurting);
    if (moment.at === 'call' && moment.stage === 'streaming') {
      return { ...reply, stall: 'in-stream' };
    }
    // A paused worker gets its reply while it sleeps, a killed one never.
    await (blow.type === 'pause' ? sleep(pauseMs + 200) : hurting);
    return reply;
  }

  async #untilRecorded(callKey: string): Promise<void> {
    const isRecorded = (): Promise<boolean> => this.#harmer.isRecorded(callKey);
    await eventually(`the recorded reply of ${callKey}`, isRecorded, recordedMsMax);
  }

  async #answerAll(asked: readonly Asked[]): Promise<void> {
    if (this.#plan.answering !== 'while away') return this.#answer(asked);
    const whileAway = (): Promise<void> => this.#answer(asked);
    const blow = { type: 'kill worker' } as const;
    return this.#harmer.hurt(blow, 'worker killed before the answers', { whileAway });
  }

  async #answer(asked: readonly Asked[]): Promise<void> {
    const { run, random } = this.#plan;
    const texts = asked.map(({ text }) => text).join(' ');
    const composed = composeAnswers(asked, run.askings, {
      random: random.fork(`answers to ${texts}`),
      outsideCalls: countCalls(this.#lane.callLog),
    });
    const isPlain = isOnce(this.#plan.answering);
    for (const sent of composed.filter(({ kind }) => kind === 'first' || !isPlain)) {
      const isTaken = await sendAnswer(this.#lane.client, this.#runId, sent, () => this.#hasEnded);
      this.#answers[isTaken ? sent.kind : 'refused'] += 1;
    }
  }

  #goOn(work: Promise<unknown>): void {
    // What fails beside the run is a defect of the campaign: it fails `play`, which waits for all of them.
    work.catch(() => {});
    this.#works.push(work);
  }

  /** @returns false when the run, left alone, did not come to its end. */
  async #untilEnd(): Promise<boolean> {
    let touchedAtMs = Date.now();
    while (!this.#hasEnded) {
      if (this.#harmer.isHurt) touchedAtMs = Date.now();
      // A supervisor starts another one, as after any death.
      else if (this.#lane.workers.length === 0)
        this.#goOn(this.#harmer.hurt({ type: 'kill worker' }, 'worker ended by itself'));
      if (!this.#harmer.isHurt && this.#looks()) {
        this.#goOn(this.#open.look(() => this.#hasEnded));
      }
      if (Date.now() > touchedAtMs + endMsMax) return false;
      if (Date.now() > Math.max(touchedAtMs, this.#seenAtMs) + idleMsMax) return false;
      await sleep(20);
    }
    return true;
  }

  /** After a reset only a look tells under which ids the questions are asked that were not answered yet. */
  #looks(): boolean {
    if (this.#plan.run.answerTo !== undefined) return true;
    return this.#harmer.wasReset && Date.now() > this.#seenAtMs + lookAfterMs;
  }

  async #judge(): Promise<PlayedTrial> {
    const { client } = this.#lane;
    const handle = client.workflow.getHandle(this.#runId);
    if (this.#plan.random.fork('after the end').chance(0.3)) await this.#answerAfterEnd();
    const questions = await eventually('the questions of the run', () =>
      handle.query<QuestionsView>('questions').catch(() => null),
    );
    const { budget } = await handle.query<BudgetView>('budget');
    await this.#lane.collect([this.#runId]);
    // The home holds what the runs before this one were cut off in.
    const orphans = this.#plan.isHomeUsed ?? !isUndisturbed(this.#plan);
    // What a reset took back is counted by the run alone, not by its histories.
    const allowance = { orphans, lostUsage: this.#harmer.wasReset, refusedTasks: true };
    const { broken, histories } = await findBrokenPromises(
      this.#lane,
      this.#runId,
      allowance,
      this.#lane.replayer,
    );
    const played = this.#played();
    const { home, stored, callLog } = this.#lane;
    const { keys, harm } = played;
    const { isReset } = harm;
    const outside = { callLog, given: this.#plan.run.files ?? null };
    const traces = { histories, questions, budget, stored, home, keys, isReset, outside };
    const facts = await readRunFacts(traces);
    const faults = [...broken, ...this.#lane.takeOwnEnds()];
    const kept = faults.length === 0 ? '' : keepHistories(histories);
    return {
      ...played,
      facts,
      stuck: null,
      broken: faults.map((fault) => `${fault}; ${kept}`),
      histories,
    };
  }

  /** @throws when the server takes an answer for a run that is over: nobody would ever look at it. */
  async #answerAfterEnd(): Promise<void> {
    const answer = { question_id: 'q1', answer: 1 };
    const isTaken = await sendAnswer(this.#lane.client, this.#runId, answer, () => this.#hasEnded);
    if (isTaken) throw new Error(`${this.#runId} took an answer after its end.`);
    this.#answers.refused += 1;
  }

  async #giveUp(): Promise<PlayedTrial> {
    const handle = this.#lane.client.workflow.getHandle(this.#runId);
    const { workers } = this.#lane;
    const stuck = await describeStuck(this.#lane, this.#runId);
    await handle.terminate('the campaign gave up');
    // Whatever holds them up must not hold up the next run too.
    await Promise.all([...workers].map((worker) => this.#lane.killWorker(worker)));
    return { ...this.#played(), facts: null, stuck, broken: [], histories: [] };
  }

  #played() {
    const { interruptions } = this.#harmer;
    const isReset = this.#harmer.wasReset;
    const calls = this.#harmer.calls();
    const all = calls.map(({ callKey }) => callKey);
    const keys = isReset ? shareKeys(all) : new Map(all.map((key) => [key, key]));
    return {
      plan: this.#plan,
      runId: this.#runId,
      fired: this.#fired,
      interruptions,
      harm: {
        interruptions: interruptions.map(({ unrecorded }) => unrecorded),
        paused: interruptions.flatMap(({ kind, unrecorded }) =>
          kind === 'worker paused' ? unrecorded : [],
        ),
        modelFaults: this.#modelFaults,
        lateAnswers: this.#answers.late,
        floodSignals: this.#harmer.floodSignals,
        isStopped: interruptions.some(({ kind }) => kind === 'run stopped'),
        isReset,
      },
      keys,
      calls: calls.map((call) => ({
        key: keys.get(call.callKey) ?? call.callKey,
        name: callNameOf(call),
      })),
      answers: this.#answers,
      stalls: this.#lane.readStalls(),
      storeBytes: countBytesBelow(this.#lane.home) - this.#bytesBefore,
    };
  }
}

function isUndisturbed({ strikes, answering, modelFaultChance }: TrialPlan): boolean {
  return strikes.length === 0 && isOnce(answering) && modelFaultChance === 0;
}

import type { DeliveredAnswer, QuestionsEscalation } from '../../contracts/messages.ts';

/** Asker of an escalation: a part of a delegation, which may go on without it. */
export interface Asker {
  /** The asker's own. */
  readonly escalation_id: string;
  isGone: boolean;
}

/** Answers to one escalation; null when its asker is gone. */
type Answers = Promise<readonly DeliveredAnswer[] | null>;

interface AskedOnce {
  readonly asker: Asker;
  /** The one that the inbox knows: mostly that of the first attempt that asked. */
  readonly escalation_id: string;
  /** Questions of the escalation, as JSON. */
  readonly questions: string;
  readonly answers: Answers;
}

/**
 * Questions of a wave's delegations over all their attempts. Each attempt numbers its questions from the start. What it
 * asks like a crashed one is not put again: it gets the same answers. What differs is put under an id of its own.
 */
export class AttemptQuestions {
  /** Questions of the attempt at work of each delegation, with the answers to come. */
  readonly #asked = new Map<string, AskedOnce[]>();
  /** Questions of its crashed attempts that were not asked again yet. */
  readonly #left = new Map<string, AskedOnce[]>();
  /** escalation_ids whose answers are still to come: whoever asks something else under one would not get them. */
  readonly #awaited = new Set<string>();
  readonly #crashes = new Map<string, number>();
  readonly #withdraw: (delegationId: string, escalationId: string) => void;

  /** @param withdraw Closes a question of a delegation in the inbox. */
  constructor(withdraw: (delegationId: string, escalationId: string) => void) {
    this.#withdraw = withdraw;
  }

  /** Returns the number of attempts at the delegation that crashed. */
  crashes(delegationId: string): number {
    return this.#crashes.get(delegationId) ?? 0;
  }

  /** Keeps the questions of an attempt that crashed for the next one. */
  beginAnew(delegationId: string): void {
    this.#crashes.set(delegationId, this.crashes(delegationId) + 1);
    const asked = this.#asked.get(delegationId) ?? [];
    this.#left.set(delegationId, [...(this.#left.get(delegationId) ?? []), ...asked]);
    this.#asked.delete(delegationId);
  }

  /** @param put Puts the questions under the id. Not called when a crashed attempt asked the same. */
  putOnce(
    delegationId: string,
    escalation: QuestionsEscalation,
    asker: Asker,
    put: (escalationId: string) => Answers,
  ): Answers {
    const questions = JSON.stringify(escalation.questions);
    const left = this.#left.get(delegationId) ?? [];
    const known =
      left.find((one) => one.questions === questions) ?? findVerification(left, escalation);
    const once: AskedOnce = known
      ? { ...known, asker }
      : { asker, questions, ...this.#putNew(delegationId, escalation.escalation_id, put) };
    if (known !== undefined) left.splice(left.indexOf(known), 1);
    this.#asked.set(delegationId, [...(this.#asked.get(delegationId) ?? []), once]);
    return once.answers;
  }

  /**
   * Drops a question of the attempt at work whose asker is gone. Another attempt that asks the same puts it anew.
   *
   * @param escalationId The asker's own. @returns the one that the inbox knows; null when there is no such question.
   */
  drop(delegationId: string, escalationId: string | undefined): string | null {
    const asked = this.#asked.get(delegationId);
    const lost = asked?.find(({ asker }) => asker.escalation_id === escalationId);
    if (lost === undefined) return null;
    lost.asker.isGone = true;
    asked?.splice(asked.indexOf(lost), 1);
    return lost.escalation_id;
  }

  #putNew(
    delegationId: string,
    id: string,
    put: (escalationId: string) => Answers,
  ): Pick<AskedOnce, 'escalation_id' | 'answers'> {
    let escalation_id = id;
    for (let nth = 2; this.#awaited.has(escalation_id); nth += 1) escalation_id = `${id}~${nth}`;
    const answers = put(escalation_id);
    // Later than it is put: a question that both ask stays open.
    if (escalation_id !== id) this.#withdrawLeft(delegationId, id);
    this.#awaited.add(escalation_id);
    // The answers to a question that was withdrawn never come, and its id stays taken.
    const free = (): void => void this.#awaited.delete(escalation_id);
    void answers.then(free, free);
    return { escalation_id, answers };
  }

  /** Withdraws what crashed attempts asked under an id, and no answer has come to: the attempt at work went another way. */
  #withdrawLeft(delegationId: string, id: string): void {
    const left = this.#left.get(delegationId) ?? [];
    const moot = left.filter(
      ({ asker, escalation_id }) =>
        this.#awaited.has(escalation_id) && (asker.escalation_id === id || escalation_id === id),
    );
    for (const one of moot) {
      left.splice(left.indexOf(one), 1);
      one.asker.isGone = true;
      this.#withdraw(delegationId, one.escalation_id);
    }
  }
}

/** Finds the question about failed verifications whose number this one has: its text names a file with times. */
function findVerification(
  left: readonly AskedOnce[],
  { kind, escalation_id }: QuestionsEscalation,
): AskedOnce | undefined {
  if (kind !== 'verification') return undefined;
  return left.find((one) => one.escalation_id === escalation_id);
}

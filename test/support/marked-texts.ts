import { isObject, readMessagesRequest } from '../../rehearsal/messages-api.ts';
import { composeDefaultReply } from '../../rehearsal/rules/default-reply.ts';
import type {
  ContentReply,
  RecordedCall,
  ScriptedRequest,
  ScriptedToolCall,
  TurnPlace,
} from '../../rehearsal/script.ts';

/** Kind of a triad's text. */
export type TextKind =
  | 'said'
  | 'proposal'
  | 'reason'
  | 'draft'
  | 'section'
  | 'order'
  | 'instruction'
  | 'summary'
  | 'code';

/** Text that can be found again in every request that contains it. */
export interface MarkedText {
  readonly kind: TextKind;
  readonly delegation: string;
  readonly phase: string;
  readonly round: number;
  /** Member that wrote it. */
  readonly member: string;
  /** Recipient of an instruction. */
  readonly to: string;
}

/** Occurrence of a marked text in a request. */
export interface Reading {
  readonly text: MarkedText;
  /** Turn that the request was for; null when it is not known to be a member's turn. */
  readonly reader: TurnPlace | null;
  readonly call: RecordedCall;
}

/** Text fields of the state tools with their kinds. The summary's are deeper. */
const textFields: Readonly<Record<string, TextKind>> = {
  proposal: 'proposal',
  revised_proposal: 'proposal',
  reason: 'reason',
  text: 'section',
  instructions: 'order',
  instruction: 'instruction',
};

/** Collection that puts a unique mark into every text that members write, and finds the marks in the log of calls. */
export class MarkedTexts {
  readonly #texts: MarkedText[] = [];

  /** @returns the mark to be added to the text: no part of it is escaped in a block of a prompt. */
  mark(text: MarkedText): string {
    this.#texts.push(text);
    return `mk${this.#texts.length}x`;
  }

  /** Marks every text of a member's reply. */
  markReply(reply: ContentReply, turn: TurnPlace, delegation: string): ContentReply {
    const { phase, round, member } = turn;
    const place = { delegation, phase, round, member, to: '' };
    const said = reply.text ? `${reply.text}\n${this.mark({ ...place, kind: 'said' })}` : '';
    const calls = reply.tool_use?.map((call) => this.#markCall(call, place)) ?? [];
    return { ...reply, ...(reply.json === undefined && { text: said }), tool_use: calls };
  }

  #markCall({ name, input }: ScriptedToolCall, place: Omit<MarkedText, 'kind'>): ScriptedToolCall {
    const fields = isObject(input) ? input : {};
    const to = typeof fields['member'] === 'string' ? fields['member'] : '';
    const isDraft = fields['status'] === 'in_progress';
    const marked = Object.entries(fields).map(([field, value]): [string, unknown] => {
      if (name === 'submit_summary') return [field, this.#markEntries(value, place)];
      const kind = textFields[field];
      if (kind === undefined || typeof value !== 'string') return [field, value];
      const known = kind === 'section' && isDraft ? 'draft' : kind;
      return [field, `${value}\n${this.mark({ ...place, to, kind: known })}`];
    });
    return { name, input: Object.fromEntries(marked) };
  }

  #markEntries(entries: unknown, place: Omit<MarkedText, 'kind'>): unknown {
    if (!Array.isArray(entries)) return entries;
    return entries.map((entry: unknown) => {
      if (!isObject(entry)) return entry;
      const { section_id, ...texts } = entry;
      const [[field, text] = ['', '']] = Object.entries(texts);
      return { section_id, [field]: `${String(text)} ${this.mark({ ...place, kind: 'summary' })}` };
    });
  }

  /** Finds every text in every request. */
  findReadings(calls: readonly RecordedCall[]): readonly Reading[] {
    return calls.flatMap((call) => {
      const found = JSON.stringify(call.body).matchAll(/mk(\d+)x/gu);
      const places = new Set([...found].map(([, place]) => Number(place)));
      return [...places].flatMap((place) => {
        const text = this.#texts[place - 1];
        return text === undefined ? [] : [{ text, reader: call.turn, call }];
      });
    });
  }
}

/** Returns the reply of the rehearsal, calls included. */
export function rehearsedReply({ body }: Pick<ScriptedRequest, 'body'>): ContentReply {
  const request = readMessagesRequest(JSON.stringify(body), true);
  if (typeof request === 'string') throw new Error(`That is no request: ${request}`);
  return composeDefaultReply(request);
}

import * as fc from 'fast-check';
import type { AgentStatusValue } from '../../../../contracts/note.ts';
import { stepAgentStatus, statusAfter } from '../../../../core/notes/agent-status.ts';
import type { AgentEvent } from '../../../../core/notes/agent-status.ts';
import { property } from '../builders.ts';

/** Each permitted change, as seed 003 tells it. */
const permitted: readonly (readonly [AgentStatusValue, AgentEvent, AgentStatusValue])[] = [
  ['pending', 'begin', 'working'],
  ['working', 'review', 'completion_drive_review'],
  ['working', 'block', 'blocked'],
  ['working', 'fail', 'failed'],
  ['completion_drive_review', 'revise', 'working'],
  ['completion_drive_review', 'finish', 'ready_for_verification'],
  ['completion_drive_review', 'block', 'blocked'],
  ['completion_drive_review', 'fail', 'failed'],
  ['ready_for_verification', 'verify', 'verified'],
  ['ready_for_verification', 'reject', 'working'],
  ['ready_for_verification', 'fail', 'failed'],
  ['ready_for_verification', 'complete', 'session_complete'],
  ['verified', 'complete', 'session_complete'],
  ['verified', 'reject', 'working'],
  ['blocked', 'answer', 'working'],
  ['blocked', 'fail', 'failed'],
  ['failed', 'retry', 'working'],
];

const statuses: readonly AgentStatusValue[] = [
  'pending',
  'working',
  'completion_drive_review',
  'ready_for_verification',
  'verified',
  'blocked',
  'failed',
  'session_complete',
];
const events = [...new Set(permitted.map(([, event]) => event))];

describe('stepAgentStatus', () => {
  it('AG1: exactly the permitted changes happen', () => {
    const done = statuses.flatMap((from) =>
      events.flatMap((event) => {
        const step = stepAgentStatus(from, event);
        expect(step.ok || step.status === from).toBe(true);
        return step.ok ? [`${from} ${event} ${step.status}`] : [];
      }),
    );
    expect(new Set(done)).toEqual(new Set(permitted.map((one) => one.join(' '))));
  });

  it('AG2 and AG3: no way leads past the review, or out of a complete session', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 30 }), (path) => {
        let status: AgentStatusValue = 'pending';
        for (const event of path) {
          const before: AgentStatusValue = status;
          status = stepAgentStatus(status, event).status;
          if (status === before) continue;
          const needed = new Map([
            ['ready_for_verification', 'completion_drive_review'],
            ['verified', 'ready_for_verification'],
          ]);
          expect(before).toBe(needed.get(status) ?? before);
          expect(before).not.toBe('session_complete');
        }
        expect(statusAfter(path)).toBe(status);
      }),
      property,
    );
  });
});

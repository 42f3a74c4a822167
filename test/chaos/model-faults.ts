import type { Reply } from '../../rehearsal/script.ts';
import type { Prng } from '../support/prng.ts';

/** Faults of the model that pass by themselves: the engine has to make the call again, and nobody has to help. */
const passingFaults: readonly Reply[] = [
  { status: 500 },
  { status: 529 },
  { status: 504, raw: '<html>upstream timed out</html>' },
  { status: 429, headers: { 'retry-after': '1' } },
  { text: 'half a re', cut: 'before-headers' },
  { text: 'half a reply', cut: 'mid-stream' },
  { text: 'half a reply', cut: 'eof-without-stop' },
  { text: 'half a reply', sseError: { type: 'overloaded_error', message: 'Overloaded' } },
];

export function pickModelFault(random: Prng): Reply {
  return random.pick(passingFaults);
}

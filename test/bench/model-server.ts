import { startRehearsalServer } from '../../rehearsal/server/server.ts';
import { playGoal, readPlayedGoals } from '../support/played/played-goal.ts';
import { playedRunId } from '../support/played/run-played.ts';
import { composeBenchReply, readConversation } from './bench-reply.ts';
import type { ModelMessage, ModelReading, ModelRequest } from './model-messages.ts';

/**
 * The model server of the bench: the rehearsal model with replies by rule, in a process of its own, so that its work
 * is not counted as anybody else's. It tells its parent over IPC where it listens and, when asked, what it has seen.
 */

let seen: ModelReading['arrivals'] = [];
let promptBytes = 0;
let keepsBodies = false;

const server = await startRehearsalServer({ port: 0, thinkMs: 0, keepsCalls: false });
const played = readPlayedGoals().map((goal) => {
  const runId = playedRunId(goal);
  return { match: { callKeyIncludes: `${runId}/` }, reply: playGoal(goal, runId) };
});
server.script([
  ...played,
  {
    reply(request) {
      const { callKey, body } = request;
      seen.push({ callKey, atMs: Date.now(), body: keepsBodies ? body : null });
      if (readConversation(body).repliesBefore === 0) promptBytes = JSON.stringify(body).length;
      return composeBenchReply(request);
    },
  },
]);

function send(message: ModelMessage): void {
  process.send?.(message);
}

process.on('message', (asked) => {
  if (asked === ('keep bodies' satisfies ModelRequest)) keepsBodies = true;
  const { user, system } = process.cpuUsage();
  const arrivals = seen;
  seen = [];
  send({ type: 'reading', arrivals, promptBytes, cpuMs: (user + system) / 1_000 });
});
process.on('disconnect', () => process.exit(0));
send({ type: 'ready', url: server.url });

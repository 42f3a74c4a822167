import { decisionJob, usualWave } from '../bench-wave.ts';
import { servePeer } from './serve-peer.ts';

/**
 * The wave in LangGraph: a graph that sends each delegation to a subgraph of one node a turn, and decides when all are
 * back. `durability: 'sync'`: a node starts when the checkpoint of the one before it is committed.
 */
await servePeer(async ({ load, databaseUrl, call }) => {
  const { Annotation, END, Send, START, StateGraph } = load('@langchain/langgraph');
  const { PostgresSaver } = load('@langchain/langgraph-checkpoint-postgres');
  const replies = Annotation({ reducer: (old, more) => [...old, ...more], default: () => [] });

  const turns = Array.from({ length: usualWave.turns }, (_, turn) => `turn-${turn}`);
  const delegation = new StateGraph({
    stateSchema: Annotation.Root({ key: Annotation(), job: Annotation(), replies }),
    output: Annotation.Root({ replies }),
  });
  for (const [turn, node] of turns.entries()) {
    delegation.addNode(node, async (state) => {
      const { key, job } = state;
      return { replies: [await call(`${key}/${job.id}/${turn}`, job, state.replies)] };
    });
    delegation.addEdge(turns[turn - 1] ?? START, node);
  }
  delegation.addEdge(turns.at(-1), END);

  const checkpointer = PostgresSaver.fromConnString(databaseUrl);
  await checkpointer.setup();
  const graph = new StateGraph(Annotation.Root({ key: Annotation(), wave: Annotation(), replies }))
    .addNode('delegation', delegation.compile())
    .addNode('decide', async ({ key, wave }) => ({
      replies: [await call(`${key}/decision`, decisionJob(wave), [])],
    }))
    .addConditionalEdges(
      START,
      ({ key, wave }) =>
        wave.tasks.map(({ job }) => new Send('delegation', { key, job, replies: [] })),
      ['delegation'],
    )
    .addEdge('delegation', 'decide')
    .addEdge('decide', END)
    .compile({ checkpointer });

  return {
    async wave(wave, key) {
      const options = { configurable: { thread_id: key }, durability: 'sync', recursionLimit: 100 };
      const state = await graph.invoke({ key, wave }, options);
      return state.replies.length;
    },
    close: () => checkpointer.end(),
  };
});

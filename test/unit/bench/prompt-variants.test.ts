import {
  fullHistory,
  fullHistoryUncached,
  roleFirst,
  withoutBreakpoints,
} from '../../bench/prompt-variants.ts';
import type { SentCall } from '../../bench/prompt-variants.ts';

const cached = { cache_control: { type: 'ephemeral' } };
const text = (said: string, more = {}) => ({ type: 'text', text: said, ...more });

function call(conversation: string, ...later: readonly string[]): SentCall {
  const own = `<role agent_id="${conversation}">\nR${conversation}\n</role>\n\ntask ${conversation}`;
  return {
    conversation,
    body: {
      system: [text('rules', cached)],
      messages: [
        { role: 'user', content: [text('wave', cached), text(own)] },
        ...later.map((said, at) => ({
          role: at % 2 === 0 ? 'assistant' : 'user',
          content: [text(said, at === later.length - 1 ? cached : {})],
        })),
      ],
    },
  };
}

const calls = [call('a'), call('b'), call('a', 'a asks', 'a gets'), call('b', 'b asks', 'b gets')];

const breakpoints = (body: unknown): number =>
  JSON.stringify(body).match(/cache_control/g)?.length ?? 0;

it('without breakpoints nothing else is missing', () => {
  for (const [at, body] of withoutBreakpoints(calls).entries()) {
    const sent = JSON.stringify(calls[at]?.body);
    expect(JSON.stringify(body)).toBe(sent.replaceAll(',"cache_control":{"type":"ephemeral"}', ''));
  }
});

it('with the role first, it stands in the system prompt and nowhere else', () => {
  const [first] = roleFirst(calls);
  expect(first).toMatchObject({
    system: [text('rules', cached), text('<role agent_id="a">\nRa\n</role>', cached)],
    messages: [{ content: [text('wave'), { text: '\n\ntask a', ...cached }] }],
  });
});

it('the full history holds what everybody said before, each thing once', () => {
  const last = fullHistory(calls).at(-1);
  const messages = JSON.stringify(last?.['messages']);
  for (const said of ['wave', 'task a', 'task b', 'a asks', 'a gets', 'b asks', 'b gets']) {
    expect([said, messages.split(said).length - 1]).toEqual([said, 1]);
  }
  expect(JSON.stringify(last?.['system'])).toContain('Rb');
  expect(breakpoints(last)).toBe(3);
  expect(fullHistoryUncached(calls).map(breakpoints)).toEqual([0, 0, 0, 0]);
  expect(JSON.stringify(fullHistory(calls)[1])).not.toContain('a asks');
});

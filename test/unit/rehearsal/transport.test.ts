import { NotFoundError } from '@anthropic-ai/sdk';
import { createClient, paramsFor, plainFormat, planPrompt, startRig, textOf } from './support.ts';
import type { Rig } from './support.ts';
import { WrittenPlan } from '../../../contracts/wave-plan.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterEach(() => rig.server.reset());
afterAll(() => rig.server.close());

const planParams = paramsFor(planPrompt('Open a bakery'), {
  output_config: { format: plainFormat(WrittenPlan) },
});

test('without a schema the reply is a short Markdown text about the goal', async () => {
  const { data: message, request_id } = await rig.client.messages
    .create(paramsFor('Say hello to the baker'))
    .withResponse();
  expect(message).toMatchObject({
    id: 'msg_rehearsal_000001',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    stop_reason: 'end_turn',
    stop_sequence: null,
  });
  expect(request_id).toBe('req_rehearsal_000001');
  expect(textOf(message)).toContain('Rehearsal');
  expect(textOf(message)).toContain('Say hello to the baker');
});

test('a streamed reply equals the whole one, up to its id', async () => {
  const whole = await rig.client.messages.create(planParams);
  const stream = rig.client.messages.stream(planParams);
  const streamed = await stream.finalMessage();
  expect({ ...streamed, id: whole.id }).toEqual({ ...whole, parsed_output: null });
  expect(stream.request_id).toBe('req_rehearsal_000002');
});

test('a stream has the API’s events in the API’s order', async () => {
  const response = await fetch(`${rig.server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'rehearsal' },
    body: JSON.stringify({ ...planParams, stream: true }),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(response.headers.get('request-id')).toBe('req_rehearsal_000001');
  const names = [...(await response.text()).matchAll(/^event: (.+)\ndata: \{"type":"(.+?)"/gmu)];
  for (const [, event, type] of names) expect(event).toBe(type);
  const order = names.map(([, event]) => event ?? '');
  expect(order.slice(0, 3)).toEqual(['message_start', 'content_block_start', 'ping']);
  expect(order.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  expect(new Set(order.slice(3, -3))).toEqual(new Set(['content_block_delta']));
  expect(order.length).toBeGreaterThan(10);
});

test('text arrives in pieces that are never half a character', async () => {
  const pieces: string[] = [];
  const text = `a${'🥐'.repeat(500)}`;
  rig.server.script([{ reply: { text } }]);
  const stream = rig.client.messages.stream(paramsFor('go'));
  stream.on('text', (piece) => pieces.push(piece));
  await stream.finalMessage();
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.join('')).toBe(text);
  for (const piece of pieces) expect(Buffer.from(piece).toString()).toBe(piece);
});

test('the same request has the same content, whatever was asked between', async () => {
  const first = await rig.client.messages.create(planParams);
  await rig.client.messages.create(paramsFor('something else'));
  const again = await rig.client.messages.create(planParams);
  expect(again.content).toEqual(first.content);
});

test('a reply beyond max_tokens is cut, as the model would', async () => {
  const message = await rig.client.messages.create({ ...planParams, max_tokens: 20 });
  expect(message.stop_reason).toBe('max_tokens');
  expect(Buffer.byteLength(textOf(message))).toBe(80);
  expect(message.usage.output_tokens).toBe(20);
});

test('models are listed and found, and tokens are counted', async () => {
  const models = await rig.client.models.list();
  expect(models.data.map((model) => model.id)).toContain('claude-opus-5-5');
  expect((await rig.client.models.retrieve('claude-haiku-5-5')).display_name).toContain(
    'Rehearsal',
  );
  await expect(rig.client.models.retrieve('no-such-model')).rejects.toThrow(NotFoundError);
  const { input_tokens } = await rig.client.messages.countTokens({
    model: 'claude-opus-5-5',
    messages: [{ role: 'user', content: 'x'.repeat(4_000) }],
  });
  expect(input_tokens).toBeGreaterThan(1_000);
  expect(input_tokens).toBeLessThan(1_050);
});

test.each([
  [{ model: 'm', max_tokens: 5, messages: [] }, 'messages: at least one message is required'],
  [{ model: 'm', max_tokens: 0, messages: [{}] }, 'max_tokens: Input should be greater'],
  [{ model: 'm', messages: [{}] }, 'max_tokens: Field required'],
  [{ max_tokens: 5, messages: [{}] }, 'model: Field required'],
  ['no object', 'not valid JSON'],
])('a bad body is refused as the API refuses it: %j', async (body, reason) => {
  const call = rig.client.post('/v1/messages', { body });
  await expect(call).rejects.toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    requestID: 'req_rehearsal_000001',
    apiMessage: expect.stringContaining(reason),
  });
  expect(rig.server.calls()).toMatchObject([{ outcome: 'answered', replyStatus: 400 }]);
});

test('a request without a key and an unknown path are refused', async () => {
  const response = await fetch(`${rig.server.url}/v1/messages`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: { type: 'authentication_error' },
  });
  await expect(rig.client.get('/v1/nothing')).rejects.toThrow(NotFoundError);
  await expect(createClient(`${rig.server.url}/x`).models.list()).rejects.toThrow(NotFoundError);
});

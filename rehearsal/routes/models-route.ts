import type { JsonObject } from '../json.ts';

/** Describes a model of the list. Its capabilities are null, which the API allows for unknown ones. */
function describeModel(id: string, line: string): JsonObject {
  return {
    type: 'model',
    id,
    display_name: `Rehearsal of ${id}`,
    created_at: '1970-01-01T00:00:00Z',
    lifecycle: 'active',
    line,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: 200_000,
    max_tokens: 64_000,
  };
}

const models = [
  describeModel('claude-opus-5-5', 'opus'),
  describeModel('claude-sonnet-5-5', 'sonnet'),
  describeModel('claude-fable-5-1', 'fable'),
  describeModel('claude-haiku-5-5', 'haiku'),
];

/** Returns the answer to `GET /v1/models`: one page. The rehearsal model answers to every other name as well. */
export function listModels(): JsonObject {
  return {
    data: models,
    has_more: false,
    first_id: models[0]?.['id'] ?? null,
    last_id: models.at(-1)?.['id'] ?? null,
  };
}

/** Returns the answer to `GET /v1/models/{id}`; undefined when the model is not listed. */
export function findModel(id: string): JsonObject | undefined {
  return models.find((model) => model['id'] === id);
}

import { stages } from '../../activities/stages/stages.ts';
import { stageNames } from '../../contracts/names.ts';
import { read, sourceFiles } from './repository.ts';

/** A stage is one entry of one table. That nothing else of the engine knows one by name is looked at here. */

const shapes = Object.values(stages).map(({ reply }) => reply.shape);

const names = [...new Set([...stageNames, ...shapes])].join('|');

/** A choice by the name of a stage or of the shape of its reply. */
const choice = new RegExp(
  String.raw`\b(?:stage|shape|prompt\.kind|begins\??\.kind)\b[^'\n]{0,12}'(?:${names})'|\bcase '(?:${names})':`,
);

/** Rooms that work for every stage alike. */
const general = [
  'activities/agent-turn/',
  'activities/prompts/',
  'activities/text/',
  'activities/tools/',
  'activities/adapters/',
  'core/metrics/',
  'core/turns/',
  'worker/',
];

/** Further turns of a member add this to its conversation: it is an input and no stage. */
const inputs = ["case 'member_turn': {"];

it('what works for every stage knows none by its name', () => {
  const faults = sourceFiles
    .filter((path) => general.some((room) => path.startsWith(room)))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .filter((line) => choice.test(line) && !inputs.includes(line.trim()))
        .map((line) => `${path}: ${line.trim()}. Cure: a field of Stage in activities/stages`),
    );
  expect(faults).toEqual([]);
});

/** Tools are entries of one registry. */
const toolNames = /(?:name|tool)\??\.?\w* [=!]== '?(?:loadDetailName|[a-z]+_[a-z_]+')/;

it('what works for every tool knows none by its name', () => {
  const faults = sourceFiles
    .filter((path) => path.startsWith('activities/'))
    .filter((path) => !path.startsWith('activities/tools/registry/'))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .filter((line) => toolNames.test(line))
        .map((line) => `${path}: ${line.trim()}. Cure: a field of its entry in tools/registry`),
    );
  expect(faults).toEqual([]);
});

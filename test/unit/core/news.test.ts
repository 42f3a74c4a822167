import * as fc from 'fast-check';
import type { NewsItem } from '../../../contracts/messages.ts';
import { answererNames } from '../../../contracts/names.ts';
import { engineLimits } from '../../../core/limits.ts';
import {
  addNews,
  answersInNews,
  contradictionOf,
  isFromUser,
  lastNewsId,
  waivedInNews,
} from '../../../core/run/news.ts';
import { checkNews } from '../../../core/run/read-messages.ts';
import { property } from './builders.ts';
import { fact } from './pool-builders.ts';

const told = (news_id: number, criteria_waived: readonly string[] = []): NewsItem => ({
  news_id,
  type: 'instruction',
  instruction: `Do ${news_id}.`,
  criteria_waived,
});

const answered = (news_id: number, answered_by = 'user'): NewsItem => ({
  news_id,
  type: 'answer',
  question_id: `q${news_id}`,
  text: 'Which?',
  answer: 'This one.',
  answer_ref: null,
  answered_by,
  delegation_id: 'host',
  changed: false,
});

it('NW1: news are taken once and in order, whatever arrives twice or late', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 1, max: 9 }))), (arrivals) => {
      const news = arrivals.reduce<readonly NewsItem[]>(
        (taken, ids) =>
          addNews(
            taken,
            ids.map((id) => told(id)),
          ),
        [],
      );
      const ids = news.map(({ news_id }) => news_id);
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
      expect(lastNewsId(news)).toBe(Math.max(0, ...arrivals.flat()));
    }),
    property,
  );
});

it('NW2: the newest are kept', () => {
  const many = Array.from({ length: engineLimits.newsKeptMax + 5 }, (_, i) => told(i + 1));
  const kept = addNews([], many);
  expect(kept).toHaveLength(engineLimits.newsKeptMax);
  expect(lastNewsId(kept)).toBe(many.length);
});

it('WM1, WM2: no payload throws, and what a parent sends comes back as it is', () => {
  const news = [told(1, ['a']), answered(2)];
  expect(checkNews(structuredClone({ news }))).toEqual({ news });
  expect(checkNews({ news: [told(1), { ...answered(2), answer: 7 }] })).toBeNull();
  expect(checkNews({ news: [{ ...told(1), news_id: 0 }] })).toBeNull();
  fc.assert(
    fc.property(fc.anything(), (payload) => void checkNews(payload)),
    property,
  );
});

it('NW3: what a person said has to be considered, and nothing else', () => {
  expect([told(1), answered(2), answered(3, 'anna')].every(isFromUser)).toBe(true);
  for (const name of Object.values(answererNames))
    expect(isFromUser(answered(1, name))).toBe(false);
});

it('NW4: an answer names each standing value of its fact that it contradicts', () => {
  const facts = [
    fact(1, 'port', '8080'),
    fact(2, 'port', '9090'),
    fact(3, 'port', '7070', { superseded_by: 'f1' }),
    fact(4, 'host', 'a'),
  ];
  const contradicted = (fact_key: string, answer: string): unknown =>
    contradictionOf({ fact_key }, answer, facts);
  expect(contradicted('Port', '9090')).toEqual({ contradicts: '8080 (wave-001/a)' });
  expect(contradicted('port', '1')).toEqual({
    contradicts: '8080 (wave-001/a); 9090 (wave-001/a)',
  });
  expect(contradicted('region', '9090')).toEqual({});
  expect(contradictionOf({}, '9090', facts)).toEqual({});
});

it('names the questions and the criteria that news are about', () => {
  const news = [
    answered(1),
    told(2, ['a', 'b']),
    answered(3),
    { ...answered(4), question_id: 'q1' },
  ];
  expect(answersInNews(news)).toEqual([
    { question_id: 'q1', answered_by: 'user' },
    { question_id: 'q3', answered_by: 'user' },
  ]);
  expect(waivedInNews(news)).toEqual(['a', 'b']);
});

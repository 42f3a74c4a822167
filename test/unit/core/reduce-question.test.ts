import type { InboxEvent } from '../../../core/questions/inbox-event.ts';
import { openInbox, stepInbox } from '../../../core/questions/step-inbox.ts';
import { inboxQuestion, storedAnswer } from '../../support/factories.ts';
import { asked, escalation, usualRules } from './builders.ts';
import {
  listTaskQuestions,
  nameTask,
  reduceQuestion,
} from '../../../core/questions/repeated-questions.ts';

describe('reduceQuestion', () => {
  it.each([
    ['Is each e-mail unique?', 'Is the email of each unique'],
    ['Which tables are needed?', 'Are tables needed -- which?'],
    ['Which orders are to be printed?', 'Printed: which orders?'],
    ['Which countries are shipped to?', 'To which countries is it shipped?'],
  ])('RQ1: %j comes again as %j', (first, again) => {
    expect(reduceQuestion(again)).toBe(reduceQuestion(first));
  });

  it.each([
    ['Which port should service A use?', 'Which port should service B use?'],
    ['May version 1 be dropped?', 'May version 2 be dropped?'],
    ['Does the orders service write?', 'Does the billing service write?'],
    ['Which id has user_name?', 'Which id has user_mail?'],
    ['日本語の質問ですか', '別の質問ですか'],
    ['このシステムの利用者は誰ですか？', 'このシステムの予算はいくらですか？'],
    ['我们应该使用哪种数据库？', '我们应该使用哪个区域？'],
    ['Welches Datenbanksystem?', 'Welche Datenbankgröße?'],
    ['May the admin see the log?', 'May the admin see the map?'],
    ['May we use C++?', 'May we use C#?'],
  ])('RQ2: %j and %j are different', (first, other) => {
    expect(reduceQuestion(first)).not.toBe(reduceQuestion(other));
  });

  it('a text without words keeps its form', () => {
    expect(reduceQuestion('is it?')).toBe('is it');
    expect(reduceQuestion('?!')).toBe('?!');
  });
});

it('a later attempt is the same task', () => {
  expect(nameTask('ship_rates-2_1727539203')).toBe('ship_rates_1727539203');
  expect(nameTask('plan-2')).toBe('plan-2');
});

const by = (delegation_id: string) => ({ delegation_id });

it('RQ3: the history of a task has all its attempts, whoever asked with it, answered or not', () => {
  const joined = inboxQuestion({
    question_id: 'q3',
    ...by('prices_1727539204'),
    also_asked_by: [{ ...by('ship_rates-3_1727539203'), agent_id: 'engineer' }],
  });
  const history = listTaskQuestions('ship_rates-3_1727539203', {
    answered_questions: [
      storedAnswer(inboxQuestion({ question_id: 'q10', ...by('ship_rates-2_1727539203') })),
      storedAnswer(inboxQuestion({ question_id: 'q2', ...by('prices_1727539204') })),
      { ...storedAnswer(inboxQuestion(by('ship_rates_1727539203'))), question: null },
      storedAnswer(joined),
    ],
    open_questions: [
      inboxQuestion({ question_id: 'q4', ...by('ship_rates-3_1727539203'), text: 'Where to?' }),
      inboxQuestion({ question_id: 'q5', delegation_id: null }),
    ],
  });
  expect(history).toMatchObject([
    { question_id: 'q1', answered: { answer: 'EU' } },
    { question_id: 'q3' },
    { question_id: 'q4', text: 'Where to?', answered: null },
    { question_id: 'q10', answered: { delegation_id: 'ship_rates-2_1727539203' } },
  ]);
});

/** Types of what follows when one delegation escalates these questions, one escalation after the other. */
function typesOf(escalations: readonly (readonly string[])[]): string[] {
  let state = openInbox(null);
  return escalations.flatMap((texts, i) => {
    const event: InboxEvent = {
      type: 'ask',
      escalation: escalation(
        `e${i}`,
        texts.map((text) => asked({ text })),
      ),
      now: 1,
      use_defaults: false,
      autonomy: 'ask',
      rules: usualRules,
    };
    const step = stepInbox(state, event);
    state = step.state;
    for (const { question_id } of state.open) {
      const payload = { question_id, answer: 'x' };
      state = stepInbox(state, {
        type: 'answer',
        payload,
        now: 2,
        default_answered_by: 'user',
      }).state;
    }
    return step.effects.map(({ type }) => type);
  });
}

it.each([
  [['利用者は誰ですか？', '利用者は何人ですか？', '利用者はどこですか？']],
  [['我们应该使用哪种数据库？', '我们应该使用哪个区域？', '我们应该使用哪种语言？']],
  [['Welches Datenbanksystem?', 'Welchen Datenbanknamen?', 'Welche Datenbankgröße?']],
  [['May the admin see the log?', 'May the admin see the map?', 'May the admin see the ads?']],
])('RQ2: no third question is refused as a loop: %j', (texts) => {
  const one = texts.map((text) => [text]);
  expect(typesOf(one)).toEqual(['opened', 'opened', 'opened']);
});

it('RQ1: what one escalation asks in several ways counts once, and is refused together', () => {
  const ways = ['Which region?', 'The region: which?', 'Region: which is it?'];
  const opened = ['opened', 'opened', 'opened'];
  expect(typesOf([ways, ways])).toEqual([...opened, ...opened]);
  const third = typesOf([ways, ways, ways]).slice(6);
  expect(third).toEqual(['looped', 'looped', 'looped', 'deliver']);
});

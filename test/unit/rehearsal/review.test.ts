import { QuestionReview } from '../../../contracts/question.ts';
import { askFor, reviewPrompt, startRig } from './support.ts';
import type { Rig } from './support.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.server.close());

test('a default is assumed, and without one the user is asked', async () => {
  const questions = [
    { question: 1, text: 'Which region?', default_answer: 'eu-west' },
    { question: 2, text: 'Who pays?', default_answer: null },
  ];
  const prompt = reviewPrompt('Open a bakery', questions);
  const { reviews } = QuestionReview.parse(await askFor(rig.client, QuestionReview, prompt));
  expect(reviews).toMatchObject([
    { question: 1, verdict: 'assumed', answer: 'eu-west', source_refs: [] },
    { question: 2, verdict: 'needs_user_input', answer: null },
  ]);
});

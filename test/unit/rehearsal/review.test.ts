import { QuestionReview, RoutedReview } from '../../../contracts/question.ts';
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

const verdictsOf = async (text: string): Promise<string[]> => {
  const read = RoutedReview.parse(await askFor(rig.client, RoutedReview, text));
  return read.reviews.map(({ verdict }) => verdict);
};

test('a technical question is for the solution architect, where there is one', async () => {
  const questions = [
    { question: 1, text: 'Which database?', default_answer: null },
    { question: 2, text: 'Who pays?', default_answer: null },
  ];
  const prompt = reviewPrompt('Open a bakery', questions);
  const offered = `${prompt}\n\n<solution_architect>{"agent_name":"architect"}</solution_architect>`;
  expect(await verdictsOf(offered)).toEqual(['architect', 'needs_user_input']);
  expect(await verdictsOf(prompt)).toEqual(['needs_user_input', 'needs_user_input']);
});

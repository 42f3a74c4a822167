import { checkNeeds, linkInputs } from '../../../core/plan/check-inputs.ts';
import { delegation } from './builders.ts';

describe('finding P6: the engine fills in what follows from the names in a plan', () => {
  it('LI1: what a plan says stays, and nothing stands there twice', () => {
    const said = [
      delegation('a', { produces: ['prices'] }),
      delegation('b', {
        required_inputs: ['goal', 'prices', 'a'],
        provided_inputs: ['brief', 'goal'],
        depends_on: ['a'],
      }),
    ];
    expect(linkInputs(said, ['goal', 'brief'])).toEqual(said);
  });

  it('LI2: a required input that the run knows is provided', () => {
    const [linked] = linkInputs(
      [delegation('a', { required_inputs: ['goal', 'q1'] })],
      ['goal', 'q1'],
    );
    expect(linked?.provided_inputs).toEqual(['goal', 'q1']);
  });

  it('LI3: who produces a required input is a dependency, by its id or by the name of its result', () => {
    const linked = linkInputs(
      [
        delegation('a', { produces: ['prices'] }),
        delegation('b', { required_inputs: ['prices', 'a'] }),
        delegation('c', { required_inputs: ['b', 'c', 'nobody'] }),
      ],
      ['goal'],
    );
    expect(linked.map(({ depends_on }) => depends_on)).toEqual([[], ['a'], ['b']]);
  });

  it('LI4: a name of a result and of the one that replaces it links to neither', () => {
    const linked = linkInputs(
      [
        delegation('draft', { produces: ['text'] }),
        delegation('review', { required_inputs: ['text'], depends_on: ['draft'] }),
        delegation('mend', { required_inputs: ['draft', 'review'], produces: ['text'] }),
      ],
      [],
    );
    expect(linked.map(({ depends_on }) => depends_on)).toEqual([
      [],
      ['draft'],
      ['draft', 'review'],
    ]);
  });

  it('LI3: a name that the run knows already needs no dependency, whoever makes it anew', () => {
    const linked = linkInputs(
      [
        delegation('review', { required_inputs: ['draft'], produces: ['findings'] }),
        delegation('mend', { required_inputs: ['draft', 'findings'], produces: ['draft'] }),
      ],
      ['draft'],
    );
    expect(linked.map(({ depends_on }) => depends_on)).toEqual([[], ['review']]);
  });
});

describe('needs "met"', () => {
  const report = delegation('report', { required_inputs: ['goal', 'research'], needs: 'met' });
  const again = delegation('again', { replaces: 'research' });

  it('is refused on a result of an earlier wave that leaves criteria open', () => {
    expect(checkNeeds([report], ['research'])).toEqual([
      {
        path: 'delegations[0].needs',
        reason:
          'needs is "met", but these results of earlier waves leave criteria open: "research"',
        hint: expect.stringContaining('Try: depend on a delegation of this wave that replaces'),
      },
    ]);
    expect(checkNeeds([report], ['prices'])).toEqual([]);
    expect(checkNeeds([{ ...report, needs: 'completed' }], ['research'])).toEqual([]);
  });

  it('is taken where the result is done again first', () => {
    expect(checkNeeds([again, { ...report, depends_on: ['again'] }], ['research'])).toEqual([]);
    expect(checkNeeds([again, report], ['research'])).toHaveLength(1);
  });
});

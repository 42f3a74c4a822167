import { thisTeamId } from '../../contracts/names.ts';

/** The name that people gave a team; null for one that was put together for one delegation, or typed without a name. */
export function teamName({ team_id }: { readonly team_id?: string | undefined }): string | null {
  return team_id === undefined || team_id === thisTeamId ? null : team_id;
}

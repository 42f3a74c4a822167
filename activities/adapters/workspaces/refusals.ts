import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { WorkspaceRefused } from '../../ports/workspaces.ts';
import { getCode } from '../file-store/store-errors.ts';
import { NoFile } from './open-folder.ts';

/** Converts an error of the system to words for a model, without a path of the machine. */
export function toRefusal(shown: string, doing: string, error: unknown): WorkspaceRefused {
  if (error instanceof WorkspaceRefused) return error;
  const path = JSON.stringify(shown);
  if (error instanceof NoFile) {
    return new WorkspaceRefused(
      `${path} is not a file but something else, such as a link. Try: another path.`,
    );
  }
  const code = error instanceof StoreUnavailable ? error.code : getCode(error);
  if (code === 'ENOENT') return new WorkspaceRefused(`There is no ${path}. Try: list_files.`);
  const [reason, cure] =
    code === 'ENOTDIR'
      ? [': a part of it is not a folder but something else, such as a link', '']
      : [` (${code ?? 'unknown fault'})`, ', or report what could not be done'];
  return new WorkspaceRefused(`${path} can't be ${doing}${reason}. Try: another path${cure}.`);
}

export function refuseOwn(shown: string): WorkspaceRefused {
  return new WorkspaceRefused(
    `${JSON.stringify(shown)} belongs to planwave's own files. Try: another folder of the workspace.`,
  );
}

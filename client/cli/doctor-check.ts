/** One thing that must be right before a run can work. */
export interface DoctorCheck {
  readonly name: string;
  /** Never rejects for what it checks; a rejection is shown as a failed check. */
  run(): Promise<DoctorFinding>;
}

export interface DoctorFinding {
  readonly ok: boolean;
  /** What was found, in one line. */
  readonly detail: string;
  /** What to do when it is not ok. */
  readonly cure?: string | undefined;
}

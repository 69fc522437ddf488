/** The result of checking one part of the deployment. */
export interface Finding {
  /** The part: `configuration`, `database`, `pepper`, `chain 8453`, `keys`, `attestor`. */
  readonly subject: string
  /** A `problem` keeps something from working; a `warning` will, or weakens the deployment. */
  readonly status: "ok" | "warning" | "problem"
  readonly detail: string
  /** What to do about it; null when all is well. */
  readonly toDo: string | null
}

export const ok = (subject: string, detail: string): Finding => ({ subject, status: "ok", detail, toDo: null })

export const warning = (subject: string, detail: string, toDo: string): Finding => ({
  subject,
  status: "warning",
  detail,
  toDo
})

export const problem = (subject: string, detail: string, toDo: string): Finding => ({
  subject,
  status: "problem",
  detail,
  toDo
})

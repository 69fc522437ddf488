/** Notes what the API answered in a file of the whole run, which is compared with the document when the run ends. */
import { appendFileSync } from "node:fs"
import { inject } from "vitest"
import { spanName } from "#http/serving/spanNames.ts"
import { answerLine } from "#test/api/support/declaredAnswers.ts"

/** A worker keeps its modules from one test file to the next, so most lines are written once. */
const noted = new Set<string>()

export const noteAnswer = (
  method: string,
  path: string,
  { json, status }: { readonly status: number; readonly json: any }
) => {
  const line = answerLine(spanName(method, path), status, json?.error?.code)
  if (noted.has(line)) return
  noted.add(line)
  appendFileSync(inject("answersFile"), `${line}\n`)
}

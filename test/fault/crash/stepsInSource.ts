/** The kinds of steps that the domain's workflows name: the first word of a step's name says its kind. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const folder = join(import.meta.dirname, "../../../domain")

/** Arguments of steps whose name is an argument. A file with another number of such steps is refused. */
const named: Readonly<Record<string, { readonly steps: number; readonly kinds: ReadonlyArray<string> }>> = {
  "operation/runSteps.ts": { steps: 1, kinds: ["finish", "abandon"] },
  "rebalance/SignatureRequests.ts": { steps: 1, kinds: ["turn", "owner"] },
  "relay/ChainAction.ts": { steps: 1, kinds: ["line", "wait"] }
}

const site = /(?:Activity\.make|DurableClock\.sleep)\(\{(.*?)\b(?:execute|duration)\b/gs
const literal = /["`]([a-z]+)/g

const kindsIn = (file: string): ReadonlyArray<string> => {
  const sites = [...readFileSync(join(folder, file), "utf8").matchAll(site)].map(([, head]) =>
    [...head!.matchAll(literal)].map(([, kind]) => kind!)
  )
  const unnamed = sites.filter((kinds) => kinds.length === 0).length
  const known = named[file] ?? { steps: 0, kinds: [] }
  if (unnamed !== known.steps)
    throw new Error(`${file} has ${unnamed} steps whose names are arguments; say in stepsInSource.ts what they may be`)
  return [...sites.flat(), ...known.kinds]
}

export const stepsInSource = (): ReadonlySet<string> =>
  new Set(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap(kindsIn)
  )

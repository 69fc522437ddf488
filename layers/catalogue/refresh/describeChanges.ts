/** The changes of the catalogue as lines that a person reviews. */
import type { GroupChange } from "#layers/catalogue/refresh/compareGroup.ts"
import type { FileChange, GroupOutcome } from "#layers/catalogue/refresh/refreshCatalogue.ts"
import type { TokenGroup, TokenRow } from "#layers/catalogue/TokenFile.ts"

/** Most tickers without a subject that are named. */
const maxTickers = 200

const nameOf = ({ chain, issuer, source }: TokenGroup) =>
  `${issuer ?? "coins"} on ${chain} (${source.what}, read ${source.asOf})`

const rowLine = (sign: "+" | "-", [subject, symbol, decimals, address, day]: TokenRow) =>
  `  ${sign} ${subject.padEnd(6)} ${symbol.padEnd(10)} ${String(decimals).padStart(2)} ${address}  since ${day}`

const ofChange = ({ added, changed, group, next, notes, refusal, removed }: GroupChange): ReadonlyArray<string> => {
  const counts = `${added.length} added, ${removed.length} removed, ${changed.length} changed`
  const isQuiet = added.length + removed.length + changed.length + notes.length === 0
  return [
    `${nameOf(group)}: ${group.tokens.length} tokens, ${isQuiet ? "unchanged" : counts}`,
    ...(refusal === null ? [] : [`  ! REFUSED: ${refusal}`]),
    ...removed.map((row) => rowLine("-", row)),
    ...added.map((row) => rowLine("+", row)),
    ...changed.map(
      ({ field, from, to, token: [subject, , , address] }) =>
        `  ~ ${subject.padEnd(6)} ${address}  ${field}: ${from} -> ${to}`
    ),
    ...notes.map((note) => `  ? ${note}`),
    ...(isQuiet || refusal !== null ? [] : [`    ${group.tokens.length} -> ${next.tokens.length} tokens`])
  ]
}

const ofGroup = (outcome: GroupOutcome): ReadonlyArray<string> => {
  if (outcome._tag === "Compared") return ofChange(outcome.change)
  const { group } = outcome
  const why = outcome._tag === "Unread" ? `NOT READ: ${outcome.reason}` : "kept by hand"
  return [`${nameOf(group)}: ${why}; its ${group.tokens.length} tokens stay`]
}

const comparedOf = (files: ReadonlyArray<FileChange>) =>
  files.flatMap(({ groups }) => groups).flatMap((outcome) => (outcome._tag === "Compared" ? [outcome.change] : []))

export const describeChanges = (files: ReadonlyArray<FileChange>): string => {
  const tickers = [...new Set(comparedOf(files).flatMap(({ unknownTickers }) => unknownTickers))].sort()
  const beyond = tickers.length - maxTickers
  return [
    ...files.flatMap(({ groups }) => groups.flatMap(ofGroup)),
    ...(tickers.length === 0
      ? []
      : [
          "",
          `${tickers.length} tickers of these sources have no subject in the catalogue, and their tokens are left out. To list one, add it to`,
          "assets/equities.ts or assets/funds.ts with an id and to classifications/, and refresh again:",
          `  ${tickers.slice(0, maxTickers).join(" ")}${beyond > 0 ? ` and ${beyond} more` : ""}`
        ])
  ].join("\n")
}

/** Whether a source was not read, or its answer was refused: then the refresh is not complete. */
export const isIncomplete = (files: ReadonlyArray<FileChange>): boolean =>
  comparedOf(files).some(({ refusal }) => refusal !== null) ||
  files.some(({ groups }) => groups.some(({ _tag }) => _tag === "Unread"))

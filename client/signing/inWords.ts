/** What an authorization lets the agent do, in sentences for who signs. */
import type { SignedChain, SignedParts } from "#client/signing/stage1.ts"
type Guard = NonNullable<SignedChain["policy"]["guard"]>

const percent = (bps: number) => `${bps / 100} percent`

const limit = (bps: number, what: string) =>
  bps === 0 ? `${what} no more than the guard's own limit` : `${what} at most ${percent(bps)}`

const fees = ({ integratorFee, serviceFee }: Guard): ReadonlyArray<string> =>
  [integratorFee, serviceFee].flatMap((fee) =>
    fee === undefined
      ? []
      : [`of what each trade buys, at most ${percent(fee.mostBps)} goes to ${fee.recipient} as a fee`]
  )

const receivers = ({ recipients = [] }: Guard): ReadonlyArray<string> =>
  recipients.map(({ account, chainId }) => `what it sends to chain ${chainId} goes to the account ${account}`)

const guarded = (guard: Guard): ReadonlyArray<string> => {
  const { budgetBps, closedTokens, contract, tradeBps, validUntil } = guard
  return [
    `until ${new Date(validUntil * 1_000).toISOString()} it trades through the guard ${contract} alone, which holds prices against references`,
    `${limit(tradeBps, "one trade may lose")}, and ${limit(budgetBps, "all trades of a week")}`,
    closedTokens === undefined
      ? "it may buy the tokens that the guard's registry lists"
      : `it may buy these tokens alone: ${closedTokens.join(", ")}`,
    ...fees(guard),
    ...receivers(guard)
  ]
}

const unguarded = ({ bridge, routedSwap, router, tokens }: SignedChain["policy"]): ReadonlyArray<string> => [
  "it trades without a time limit, and no price is held: a stolen agent key could trade everything away",
  `it trades through ${[router, routedSwap].filter((venue) => venue !== undefined).join(" and ")}, and what is bought goes to the account itself`,
  `it may buy these tokens alone: ${tokens.join(", ")}`,
  ...(bridge === undefined
    ? []
    : [
        `it may send the token ${bridge.token} through ${bridge.contract} to the same account on ${bridge.destinations.map(({ chainId }) => chainId).join(", ")}`
      ])
]

const chainInWords = ({ chainId, policy }: SignedChain): ReadonlyArray<string> =>
  (policy.guard === undefined ? unguarded(policy) : guarded(policy.guard)).map((rule) => `On chain ${chainId} ${rule}.`)

const chainsInWords = ({ chains }: SignedParts): string => chains.map(({ chainId }) => `chain ${chainId}`).join(" and ")

export const inWords = (parts: SignedParts, account: string, agent: string): ReadonlyArray<string> => [
  `The agent ${agent} may act for the account ${account} on ${chainsInWords(parts)}.`,
  ...parts.chains.flatMap(chainInWords),
  parts.withdrawalDomainName === null
    ? "It cannot withdraw."
    : "It cannot withdraw: a withdrawal takes another signature of the owner, over its recipient and amounts.",
  "It cannot sign messages in the account's name."
]

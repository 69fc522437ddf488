/** What the agent may do, on the wire. Source: docs/decisions/0117-proof-of-the-policy.md. */
import { Schema } from "effect"
import {
  addressText,
  hexBytes,
  PortfolioIdText,
  prose,
  SmartAccountIdText,
  timestamp,
  written
} from "#http/values/values.ts"

const kind = Schema.Literals(["guard", "call_policy"]).annotate({
  description:
    "`guard`: the chain holds trades against reference prices and a loss budget; `call_policy`: a permission from before the trade guard, which limits the contracts that trades go to, and not their price.",
  examples: ["guard"]
})

const AccountKind = Schema.Literals(["guard", "call_policy", "wallet_role"])

const permissionId = hexBytes("Four bytes that name the permission on the chain.", 4, "0x5f16f4c7")

const Permission = Schema.Struct({
  permissionId,
  kind,
  state: Schema.Literals(["unused", "active", "expired", "ended"]).annotate({
    description:
      "`unused`: not on the chain yet, the owner's signature can put it there; `active`: the agent acts by it; `expired`: its time is over; `ended`: revoked, removed or replaced, for ever.",
    examples: ["active"]
  }),
  agent: addressText("The key that acts by it."),
  validUntil: Schema.NullOr(timestamp("The last second at which it holds", "2026-09-01T09:30:00.000Z")).annotate({
    description: "Null without a time limit.",
    examples: [null]
  })
}).annotate({ identifier: "PolicyPermission", description: "One permission of the agent that the owner signed." })

const AllowedCall = Schema.Struct({
  permissionId,
  target: Schema.NullOr(addressText("The contract that may be called.")).annotate({
    description: "Null: any token.",
    examples: [null]
  }),
  function: prose("Canonical signature of the function.", 400, "approve(address,uint256)"),
  rule: prose("What is demanded of the call.", 2_000, "The spender is the guard, which spends for its caller alone.")
}).annotate({
  identifier: "PolicyCall",
  description: "A call that a permission lets pass; none sends native money."
})

const bps = (description: string) =>
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 })).annotate({ description, examples: [200] })

const percentLeft = (description: string) =>
  written(`${description} Percent of the account with 7 decimals.`, /^[0-9]{1,3}\.[0-9]{7}$/u, "1.9700000")

const Guard = Schema.Struct({
  contract: addressText("The guard."),
  registryVersion: Schema.Int.annotate({
    description: "Grows with every change of the registered tokens, venues, destinations or keys.",
    examples: [12]
  }),
  isPaused: Schema.Boolean.annotate({ description: "True: no agent trades or sends.", examples: [false] }),
  administrator: addressText("May add to the registry, two days after the change was scheduled."),
  guardian: addressText("May remove from the registry at once."),
  attestor: addressText("Signs prices of tokens without a feed; zero when there is none."),
  maxTradeLossBps: bps("Most that one trade may lose, of what is sold."),
  maxWeeklyLossBps: bps("Most that all trades together may lose; the budget refills evenly over seven days."),
  lossLeft: percentLeft("What trades may still lose now, counted by how far markets may be from the prices."),
  turnoverLeft: percentLeft("What may still be traded now; at prices that the attestor signs, half of it."),
  closedListRoot: Schema.NullOr(
    hexBytes("Merkle root of the only tokens that may be bought.", 32, `0x${"5f".repeat(32)}`)
  ).annotate({
    description: "Null: every registered token may be bought.",
    examples: [null]
  })
}).annotate({ identifier: "PolicyGuard", description: "What the trade guard's contract stores for the account." })

const Check = Schema.Struct({
  reads: prose("What it answers.", 200, "the account's present nonce"),
  to: addressText("The contract to call."),
  data: written("Calldata in hex.", /^0x(?:[0-9a-f]{2})*$/u, "0x7eb09d05")
}).annotate({ identifier: "PolicyCheck", description: "An `eth_call` by which anybody reads the same." })

const ChainPolicy = Schema.Struct({
  blockNumber: written("The block at which everything below was read.", /^[0-9]+$/u, "31415926"),
  blockTime: timestamp("The block's own time"),
  isDeployed: Schema.Boolean.annotate({
    description: "False while the account is not on the chain; its first operation puts it there.",
    examples: [true]
  }),
  permissions: Schema.Array(Permission).annotate({ description: "Latest first." }),
  allowedCalls: Schema.Array(AllowedCall).annotate({
    description: "All that passes, of the permissions that are active or unused; every other call is refused."
  }),
  guard: Schema.NullOr(Guard).annotate({ description: "Null when no permission names a guard." }),
  checks: Schema.Array(Check).annotate({ description: "The calls of this answer, at `blockNumber`." })
}).annotate({ identifier: "ChainPolicy", description: "The permission as the chain enforces it." })

const AccountPolicy = Schema.Struct({
  accountId: SmartAccountIdText,
  kind: AccountKind.annotate({
    description:
      "What the owner signed last for the chain, `guard` or `call_policy`; on Solana `wallet_role`, the agent's role in the owner's wallet.",
    examples: ["guard"]
  }),
  chain: Schema.NullOr(ChainPolicy).annotate({
    description:
      "Null when the chain did not answer; retry. Null with `wallet_role`: Solana limits that agent to the account, and to nothing else there."
  })
}).annotate({ identifier: "AccountPolicy", description: "What the agent's key may do on one account." })

export const PortfolioPolicy = Schema.Struct({
  portfolioId: PortfolioIdText,
  accounts: Schema.Array(AccountPolicy).annotate({ description: "One a chain." })
}).annotate({
  identifier: "PortfolioPolicy",
  description: "What the agent's key may do, as the contracts on each chain answer."
})

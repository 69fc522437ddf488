/** Fields whose names have changed keep, where they are stored, the names that they had. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { AgentPolicy } from "#domain/account/Authorization.ts"
import { ClientRoute } from "#domain/action/SwapOrder.ts"
import { ActionReceipt } from "#domain/relay/Transaction.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { Swap } from "#domain/trading/Swap.ts"

const usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const usdcOnArbitrum = "eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831"
const weth = "eip155:8453/erc20:0x4200000000000000000000000000000000000006"
const [usdcAddress, wethAddress] = [usdc, weth].map((assetId) => assetId.slice(assetId.lastIndexOf(":") + 1))
const hash = `0x${"ab".repeat(32)}`

/** What rows written before hold, and a field of each by the name of now. */
const rows = [
  {
    name: "a transfer",
    schema: OutgoingTransfer,
    stored: {
      sell: usdc,
      buy: usdcOnArbitrum,
      amountRaw: "1000",
      leastRaw: "990",
      expectedRaw: "999",
      bridge: wethAddress,
      tool: "vault"
    },
    field: "minRaw",
    value: 990n
  },
  {
    name: "a client's route",
    schema: ClientRoute,
    stored: { tool: "pools", step: { id: "1" }, leastRaw: "7" },
    field: "minRaw",
    value: 7n
  },
  {
    name: "a receipt of a reverted bundle",
    schema: ActionReceipt,
    stored: {
      subject: hash,
      txHash: hash,
      blockNumber: "7",
      blockHash: hash,
      success: false,
      isSpoiled: true,
      gasUsed: "21000",
      deltas: []
    },
    field: "isBundleReverted",
    value: true
  },
  {
    name: "a receipt of a transaction of its own",
    schema: ActionReceipt,
    stored: { subject: hash, txHash: hash, blockNumber: "7", blockHash: hash, success: true, gasUsed: "1", deltas: [] },
    field: "isBundleReverted",
    value: undefined
  },
  {
    name: "a swap",
    schema: Swap,
    stored: {
      sell: usdc,
      buy: weth,
      sellAmountRaw: "1000",
      minBuyAmountRaw: "1",
      path: [usdcAddress, wethAddress],
      offers: { venueRaw: "1", routed: null, reason: "the provider has no route" }
    },
    field: "comparedQuotes",
    value: { venueRaw: 1n, routed: null, reason: "the provider has no route" }
  },
  {
    name: "a policy",
    schema: AgentPolicy,
    stored: { router: usdcAddress, hubs: [wethAddress], tokens: [usdcAddress] },
    field: "connectorTokens",
    value: [wethAddress]
  }
] as const

describe("rows written before a field was renamed are read, and written alike", () => {
  for (const { field, name, schema, stored, value } of rows) {
    it(name, () => {
      const codec = schema as Schema.Codec<Readonly<Record<string, unknown>>, unknown>
      const decoded = Schema.decodeUnknownSync(codec)(stored)
      assert.deepStrictEqual(decoded[field], value)
      assert.deepStrictEqual(Schema.encodeSync(codec)(decoded), stored)
    })
  }
})

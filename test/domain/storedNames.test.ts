/** Fields whose names have changed keep, where they are stored, the names that they had. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { AgentPolicy } from "#domain/account/Authorization.ts"
import { solanaAccount, solanaChainId } from "#domain/values/Caip.ts"
import { ClientRoute } from "#domain/action/SwapOrder.ts"
import { ActionReceipt, PreparedAction, SignedTransaction } from "#domain/relay/Transaction.ts"
import { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import { Swap } from "#domain/trading/Swap.ts"

const usdc = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
const usdcOnArbitrum = "eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831"
const weth = "eip155:8453/erc20:0x4200000000000000000000000000000000000006"
const [usdcAddress, wethAddress] = [usdc, weth].map((assetId) => assetId.slice(assetId.lastIndexOf(":") + 1))
const hash = `0x${"ab".repeat(32)}`
const outgoingTransfer = {
  sell: usdc,
  buy: usdcOnArbitrum,
  amountRaw: "1000",
  leastRaw: "990",
  expectedRaw: "999",
  bridge: wethAddress,
  tool: "vault"
}
const transaction = {
  chainId: 8453,
  accountId: `eip155:8453:${wethAddress}`,
  subject: hash,
  to: usdcAddress,
  callData: "0x",
  gasLimit: "3",
  maxFeePerGas: "1",
  maxPriorityFeePerGas: "1",
  chainNonce: 0,
  laneNonces: [],
  fromBlock: "7"
}

/** What rows written before hold, and a field of each by the name of now. */
const rows = [
  {
    name: "a transfer",
    schema: OutgoingTransfer,
    stored: outgoingTransfer,
    field: "minRaw",
    value: 990n
  },
  {
    name: "what takes a transfer",
    schema: OutgoingTransfer,
    stored: outgoingTransfer,
    field: "bridgeAddress",
    value: wethAddress
  },
  {
    name: "a client's route",
    schema: ClientRoute,
    stored: { tool: "pools", step: { id: "1" }, leastRaw: "7" },
    field: "minRaw",
    value: 7n
  },
  {
    name: "a transaction that is to be signed",
    schema: PreparedAction,
    stored: transaction,
    field: "actionHash",
    value: hash
  },
  {
    name: "a transaction that is to be signed, with its family",
    schema: PreparedAction,
    stored: { _tag: "Evm", ...transaction, bundleGas: "2" },
    field: "actionHash",
    value: hash
  },
  {
    name: "steps that are to be signed",
    schema: PreparedAction,
    stored: {
      _tag: "Solana",
      chainId: solanaChainId,
      accountId: solanaAccount("7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"),
      subject: hash,
      steps: ["a swap"],
      gasLimit: "5000",
      maxFeePerGas: "1000000000",
      fromBlock: "400000000"
    },
    field: "actionHash",
    value: hash
  },
  {
    name: "a signed transaction",
    schema: SignedTransaction,
    stored: {
      chainId: 8453,
      subject: hash,
      relayer: usdcAddress,
      nonce: 1,
      txHash: hash,
      raw: "0x02",
      fromBlock: "7",
      replaces: [hash]
    },
    field: "actionHash",
    value: hash
  },
  {
    name: "what a receipt is of",
    schema: ActionReceipt,
    stored: { subject: hash, txHash: hash, blockNumber: "7", blockHash: hash, success: true, gasUsed: "1", deltas: [] },
    field: "actionHash",
    value: hash
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

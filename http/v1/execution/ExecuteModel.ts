/** Calls of an account on the legacy wire. Source: interface "Legacy execution (v1)". */
import { Schema } from "effect"
import { EvmAddress } from "#domain/values/Caip.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import { addressText, OperationIdText, prose, written } from "#http/values/values.ts"

const address = EvmAddress.annotate({
  description: "The contract that is called.",
  examples: ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" as EvmAddress]
})

const Call = Schema.Struct({
  to: address,
  data: Schema.String.check(
    Schema.isPattern(/^0x(?:[0-9a-fA-F]{2}){0,8192}$/u, { expected: "calldata in hex with 0x, at most 8192 bytes" })
  ).annotate({
    description: "Calldata in hex, at most 8192 bytes.",
    examples: [`0x095ea7b3${"0".repeat(128)}`]
  }),
  value: Schema.optionalKey(
    Schema.Literals(["0", "0x0"]).annotate({
      description: "Wei: zero, or left out. No permission of the agent lets native value leave.",
      examples: ["0"],
      message:
        'Expected "0" or "0x0", or no value: the permission that the owner signed lets the agent call with a value of zero alone, so native value cannot leave the account by it'
    })
  )
}).annotate({ identifier: "ExecuteCall", description: "One call of the account." })

const chainIdText = Schema.String.check(
  Schema.isPattern(/^[1-9][0-9]{0,15}$/u, { expected: "a chain id in a string" })
).annotate({ description: "The chain.", examples: ["8453"] })

export const ExecuteBody = Schema.Struct({
  chainId: chainIdText,
  params: Schema.Struct({
    calls: Schema.Union([
      Call,
      Schema.Array(Call).check(Schema.isBetweenLength(1, 10, { expected: "1 to 10 calls" }))
    ]).annotate({ description: "One call, or up to ten, which succeed together or not at all." }),
    nonce: Schema.optionalKey(
      Schema.String.check(
        Schema.isPattern(/^[A-Za-z0-9_.:-]{1,100}$/u, {
          expected: "1 to 100 letters, digits, `_`, `.`, `:` and `-`"
        })
      ).annotate({
        description: "Ties a repeat to the first call: the same one is answered the same, another one is refused.",
        examples: ["order-17"]
      })
    )
  }).annotate({ description: "What is done." })
}).annotate({ identifier: "ExecuteRequest", description: "Calls of the portfolio's account on a chain." })

const digits = (description: string) => written(description, /^(0|[1-9][0-9]*)$/u, "182344")
const hex = (description: string) => written(description, /^0x(?:[0-9a-f]{2})*$/u, "0x765e827f")
const txHash = Schema.NullOr(written("Hash of the transaction.", /^0x[0-9a-f]{64}$/u, `0x${"5c".repeat(32)}`)).annotate(
  {
    description: "Hash of the transaction; null until there is one.",
    examples: [null]
  }
)

const status = Schema.Literals(["pending", "processing", "completed", "failed"]).annotate({
  description: "`completed` and `failed` never change.",
  examples: ["pending"]
})

const Traced = Schema.Struct({
  depth: Schema.Int.annotate({ description: "0 for the transaction itself.", examples: [0] }),
  type: prose("Kind of call, as the node has it.", 4096, "CALL"),
  from: prose("Who calls.", 4096, "0x52908400098527886E0F7030069857D2E4169EE7"),
  to: Schema.NullOr(prose("Who is called.", 4096, "0x52908400098527886E0F7030069857D2E4169EE7")).annotate({
    description: "Who is called; null where a contract is made.",
    examples: ["0x52908400098527886E0F7030069857D2E4169EE7"]
  }),
  gasUsed: digits("Gas that the call used."),
  error: Schema.NullOr(prose("What the call failed of.", 300, "execution reverted")).annotate({
    description: "Why the call failed; null when it succeeded.",
    examples: [null]
  })
}).annotate({ identifier: "TracedCall", description: "One call of the trace, in the order in which they are made." })

export const Executed = Schema.Struct({
  executionId: Schema.NullOr(OperationIdText).annotate({
    description: "Ask for its status; null with `dryRun`.",
    examples: ["op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as OperationId]
  }),
  status,
  transaction: Schema.Struct({
    hash: txHash,
    data: hex("Calldata of the transaction, as it was simulated."),
    from: addressText("The portfolio's account."),
    to: addressText("The EntryPoint that includes the account's operation."),
    chainId: chainIdText
  }).annotate({ description: "What is sent, or would be." }),
  simulation: Schema.optionalKey(
    Schema.Struct({
      success: Schema.Boolean.annotate({ description: "The chain would take it.", examples: [true] }),
      gasEstimate: digits("Gas of the whole transaction."),
      trace: Schema.Array(Traced).annotate({
        description: "The node's trace, at most 200 calls; empty where it offers none."
      })
    }).annotate({ description: "Present with `dryRun` alone." })
  )
}).annotate({ identifier: "ExecuteSubmitted", description: "What was submitted, or simulated." })

export const ExecuteStatus = Schema.Struct({
  executionId: OperationIdText,
  status,
  transaction: Schema.Struct({
    hash: txHash,
    status: Schema.Literals(["pending", "confirmed", "failed"]).annotate({
      description: "Hash of the transaction.",
      examples: ["confirmed"]
    }),
    blockNumber: Schema.NullOr(Schema.Int).annotate({ description: "Null until it is in one.", examples: [31415926] }),
    timestamp: Schema.NullOr(Schema.Int).annotate({
      description: "End of the execution, Unix seconds; null until then.",
      examples: [1772443812]
    })
  }).annotate({ description: "The transaction that included it." }),
  result: Schema.optionalKey(
    Schema.Struct({
      success: Schema.Boolean.annotate({ description: "It was carried out.", examples: [true] }),
      gasUsed: digits("Gas that it used."),
      events: Schema.Array(
        Schema.Struct({
          assetId: written(
            "Legacy id of the asset, `<address>:<chainId>`.",
            /^0x[0-9a-fA-F]{40}:[1-9][0-9]*$/u,
            "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913:8453"
          ),
          amountRaw: written("Net change of the account's balance.", /^-?(0|[1-9][0-9]*)$/u, "-1500500000")
        })
      ).annotate({ description: "What moved, by the transaction's Transfer events." })
    }).annotate({ description: "Present once completed." })
  ),
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.Literal("EXECUTION_FAILED").annotate({ description: "It was not carried out." }),
      message: Schema.String.check(Schema.isMaxLength(10_000)).annotate({
        description: "Why, for people.",
        examples: ["the operation was reverted"]
      }),
      details: Schema.Array(Schema.String.check(Schema.isMaxLength(300))).annotate({ description: "Empty." })
    }).annotate({ description: "Present once failed." })
  )
}).annotate({ identifier: "ExecuteStatus", description: "What became of an execution." })

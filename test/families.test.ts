/**
 * Rules of the domain hold for every family of chains, and ask for its terms where they are not the same for all. Where
 * a file of the domain names EVM all the same, or what EVM alone has, this says why. Sources:
 * docs/decisions/0194-chain-families.md, docs/decisions/0288-terms-of-families.md.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../domain", import.meta.url))

const stringOrComment = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
const either = (...patterns: ReadonlyArray<RegExp>) => new RegExp(patterns.map(({ source }) => source).join("|"), "u")
const evm = either(
  /\bEvm[A-Z]\w*|\bevm[A-Z]\w*|\bErc20\w*|\berc20\b|\b0x|"eip155|`eip155|"Evm"/u,
  /\b(?:gasLimit|maxFeePerGas|maxPriorityFeePerGas|bundleGas)\b/u,
  // Of accounts: a sign-in and a withdrawal have a nonce on every chain, which is a value that is used once.
  /\b(?:enable|operation|chain|lane|used|at)Nonces?\b|\bNonce\b/u,
  /Kernel|[Uu]niswap|[cC]all[dD]ata\b|\b[uU]serOp\w*|[tT]ypedData|\bBytes32\b|\bHexBytes\b/u
)
/** A branch by the name of a family. */
const branch = /(?:[!=]== |\bcase |\bstartsWith\()"(?:solana|eip155|Solana|Evm)[":]/u
/** What an owner authorized is asked through Permission.ts, and read by the adapter alone. */
const policyFields = either(
  /\bpolicy\.(?:router|connectorTokens|tokens|routedSwap|bridge|guard|closedTokens)\b/u,
  /\bpolicy: \{ (?:router|connectorTokens|tokens|routedSwap|bridge|guard)/u,
  /Partial<AgentPolicy>/u
)

/** How a swap is made is opened by its adapter; functions of Swap.ts answer for it. */
const executionFields = /\bexecution\??\.(?:_tag|path|inputsRaw|call|direct)\b|\} = (?:\w+\.)*execution\n/u

const forms = "writes and reads identifiers of every family"
const wire = "the wire of a provider or of v1 that is EVM's alone"
const relay = "what submits EVM transactions: accounts with nonces, their keys, fees that are raised, bundles"
const signed = "what owners of EVM accounts sign"
const userOpHash = "a field of that name, which is stored and sent"

const reasons: Readonly<Record<string, string>> = {
  "values/Caip.ts": forms,
  "values/Eip55.ts": forms,
  "listing/AssetKey.ts": forms,
  "listing/AssetModels.ts": "names the standards that listed tokens keep",
  "marketData/caipOfPlatform.ts": forms,
  "account/Authorization.ts": "the stored form of what owners of EVM accounts sign; Permission.ts answers for it",
  "account/OwnerMessage.ts": signed,
  "account/Revocation.ts": signed,
  "account/SmartAccounts.ts": "the port of EVM accounts; places in wallets are SolanaWallets",
  "account/WithdrawalMessage.ts": "examples of the contract, and the nonce of 32 bytes in hex that every family signs",
  "withdrawal/signedForm.ts": signed,
  "withdrawal/WithdrawalVerifier.ts": "the withdrawals that EVM chains carry out",
  "chain/canonicalUsdc.ts": "the table of canonical USDC",
  "chain/nativeCoins.ts": "the table of native coins, of EVM chains alone",
  "enrollment/ChainActivations.ts": "asks for the number that a permission of an account in use must contain",
  "enrollment/Renewals.ts": "asks for the number that a permission of an account in use must contain",
  "identity/siwe/SignInMessage.ts": "ERC-4361, by which EVM wallets sign in",
  "identity/User.ts": "ERC-4361, by which EVM wallets sign in",
  "identity/siwe/readSignInMessage.ts": "ERC-4361, by which EVM wallets sign in",
  "order/OrderRequest.ts": wire,
  "order/Orders.ts": wire,
  "order/boundStep.ts": wire,
  "order/resultOfOrder.ts": userOpHash,
  "order/RouteExtended.ts": wire,
  "order/CallsOrder.ts": "direct executions are calls of EVM contracts",
  "trading/SwapBatches.ts": "direct executions are calls of EVM contracts",
  "trading/Swap.ts": "the stored form of how swaps are made, which adapters alone open",
  "policy/ChainPolicy.ts": "what EVM chains say of a permission, as the route shows it",
  "attestation/PriceAttestor.ts": "prices are attested for guards, which are EVM contracts",
  "backtest/plannerRule.ts": "makes up identifiers for the planner, which only takes those of some chain",
  "operation/OperationResult.ts": userOpHash,
  "relay/recordedTransactions.ts": userOpHash,
  "transfer/resultOfTransfer.ts": userOpHash,
  "relay/fees/feeCeilings.ts": relay,
  "relay/fees/holdTransaction.ts": relay,
  "relay/BundleSigner.ts": relay,
  "relay/RelayStore.ts": relay,
  "relay/Relayer.ts": relay,
  "relay/Signer.ts": relay,
  "relay/Transaction.ts": relay,
  "relay/UserOperations.ts": relay,
  "relay/replacementFees.ts": relay,
  "relay/bundlesOf.ts": relay,
  "relay/replaceStuckTransaction.ts": relay
}

/** Files that read the name of a family, so that the others do not. */
const branches: Readonly<Record<string, string>> = {
  "values/Caip.ts": forms,
  "account/Permission.ts": "answers for what was authorized, by its tag",
  "marketData/caipOfPlatform.ts": "a provider's name of a platform",
  "relay/Transaction.ts": "answers for what was prepared, by its tag",
  "trading/Swap.ts": "answers for how a swap is made, by its tag"
}

const sources = readdirSync(root, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const code = readFileSync(path, "utf8").replaceAll(stringOrComment, (_, kept: string | undefined) => kept ?? "")
    return { path: path.slice(root.length + 1), code }
  })

describe("chain families", () => {
  it("the files of the domain that name EVM are those with a reason", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ code, path }) => (evm.test(code) ? [path] : [])).toSorted(),
      Object.keys(reasons).toSorted()
    ))

  it("a rule asks for terms of a family, and reads no name of one", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ code, path }) => (branch.test(code) ? [path] : [])).toSorted(),
      Object.keys(branches).toSorted()
    ))

  it("the domain asks about a permission, and reads its policy in one place", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ code, path }) => (policyFields.test(code) ? [path] : [])),
      ["account/Permission.ts"]
    ))

  it("the domain asks how a swap is made, and reads it in one place", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ code, path }) => (executionFields.test(code) ? [path] : [])),
      ["trading/Swap.ts"]
    ))
})

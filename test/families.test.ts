/**
 * Rules of the domain hold for every family of chains. Where a file of it names EVM all the same, this says why.
 * Source: docs/decisions/0194-chain-families.md.
 */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../domain", import.meta.url))

const stringOrComment = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
const evm = /\bEvm[A-Z]\w*|\bevm[A-Z]\w*|\bErc20\w*|\berc20\b|\b0x|"eip155|`eip155|"Evm"/u
/** What an owner authorized is asked through Permission.ts, and read by the adapter alone. */
const policyFields = new RegExp(
  [
    /\bpolicy\.(?:router|connectorTokens|tokens|routedSwap|bridge|guard)\b/u,
    /\bpolicy: \{ (?:router|connectorTokens|tokens|guard)/u,
    /Partial<AgentPolicy>/u
  ]
    .map(({ source }) => source)
    .join("|"),
  "u"
)

const forms = "writes and reads identifiers of every family"
const wire = "the wire of a provider or of v1 that is EVM's alone"
const relay = "what carries EVM transactions: accounts with nonces, and their keys"

const reasons: Readonly<Record<string, string>> = {
  "Caip.ts": forms,
  "Eip55.ts": forms,
  "listing/AssetKey.ts": forms,
  "listing/AssetModels.ts": "names the standards that listed tokens keep",
  "listing/AssetSearch.ts": "knows an address when one is searched for",
  "listing/Listing.ts": forms,
  "marketData/caipOfPlatform.ts": forms,
  "account/Authorization.ts": "the stored form of what owners of EVM accounts sign; Permission.ts answers for it",
  "account/WithdrawalMessage.ts": "examples of the contract",
  "withdrawal/WithdrawalAuthorizations.ts": "spells a nonce of 32 bytes",
  "withdrawal/WithdrawalVerifier.ts": "the withdrawals that EVM chains carry out",
  "withdrawal/lossOf.ts": "addresses that EVM chains reserve",
  "withdrawal/withdrawalRequestBytes.ts":
    "distinguishes a signature in hex, which has two spellings, from one in base58",
  "withdrawal/resolveSource.ts": "distinguishes a recipient on no chain from one that cannot be read",
  "chain/canonicalUsdc.ts": "the table of canonical USDC",
  "enrollment/ActivationRequest.ts": "the message that a signature of 65 bytes is asked for",
  "identity/SignInMessage.ts": "ERC-4361, by which EVM wallets sign in",
  "identity/User.ts": "ERC-4361, by which EVM wallets sign in",
  "action/ActionRequest.ts": wire,
  "action/Actions.ts": wire,
  "action/RouteExtended.ts": wire,
  "action/CallsOrder.ts": "direct executions are calls of EVM contracts",
  "trading/ChainExecution.ts": "direct executions are calls of EVM contracts",
  "policy/ChainPolicy.ts": "what EVM chains say of a permission, as the route shows it",
  "attestation/PriceAttestor.ts": "prices are attested for guards, which are EVM contracts",
  "backtest/plannerRule.ts": "makes up tokens of one chain",
  "transfer/TransferLedger.ts": "EVM accounts have the same address everywhere",
  "relay/RelayStore.ts": relay,
  "relay/Relayer.ts": relay,
  "relay/Signer.ts": relay,
  "relay/Transaction.ts": relay
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

  it("the domain asks about a permission, and reads its policy in one place", () =>
    assert.deepStrictEqual(
      sources.flatMap(({ code, path }) => (policyFields.test(code) ? [path] : [])),
      ["account/Permission.ts"]
    ))
})

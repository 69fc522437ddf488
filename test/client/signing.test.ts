/** What the client computes of an authorization, beside what the service does: two programs, the same bytes. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { keccak256, toHex, verifyMessage, type Address, type Hex } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { accountAddress as clientsAddress, enableDigest as clientsDigest } from "#client/signing/account.ts"
import { merkleRoot } from "#client/signing/merkleRoot.ts"
import { permissionData as clientsData } from "#client/signing/permission.ts"
import { connect } from "ballast/client"
import { Altered, type Stage1, verifyAuthorization, verifyWithdrawalText, withdraw } from "ballast/signing"
import { type ChainId, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { OperationId } from "#domain/values/Ids.ts"
import type { AgentPolicy } from "#domain/account/Authorization.ts"
import { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import { permissionData } from "#layers/evm/account/agentPermission.ts"
import { enableDigest } from "#layers/evm/account/enableMessage.ts"
import { digestRoot } from "#layers/evm/account/digestTree.ts"
import { accountAddress } from "#layers/evm/account/kernelAccount.ts"

const address = (digit: string) => `0x${digit.repeat(40)}` as EvmAddress & Address
const withdrawalDomainName = "Ballast Withdrawal Authorization"
const owner = address("1")
const agent = address("2")

const plain: AgentPolicy = {
  _tag: "Evm",
  router: address("3"),
  connectorTokens: [],
  tokens: [address("5"), address("6")]
}
const guard = { contract: address("7"), issuedAt: 1_772_444_400, validUntil: 1_787_996_400, tradeBps: 50, budgetBps: 0 }
const policies: Readonly<Record<string, AgentPolicy>> = {
  "a router alone": plain,
  "connector tokens": { ...plain, connectorTokens: [address("5")] },
  routes: { ...plain, connectorTokens: [address("5")], routedSwap: address("8") },
  "a bridge": {
    ...plain,
    bridge: {
      contract: address("9"),
      token: address("5"),
      destinations: [{ chainId: 10 as ChainId, token: address("6") }]
    }
  },
  "the guard": { ...plain, guard },
  "the guard with a closed list": {
    ...plain,
    guard: { ...guard, closedTokens: [address("5"), address("6"), address("8")] }
  },
  "the guard with fees": {
    ...plain,
    guard: {
      ...guard,
      integratorFee: { recipient: address("a"), mostBps: 25 },
      serviceFee: { recipient: address("b"), mostBps: 5 }
    }
  },
  "the guard with everything": {
    ...plain,
    guard: {
      ...guard,
      closedTokens: [address("5")],
      serviceFee: { recipient: address("b"), mostBps: 100 },
      recipients: [
        { chainId: 1_151_111_081_099_710 as ChainId, account: `0x${"c1".repeat(32)}` },
        { chainId: 42_161 as ChainId, account: `0x${"00".repeat(12)}${"d2".repeat(20)}` }
      ]
    }
  }
}

/** Writes a policy as the API sends it. */
const wirePolicy = ({ _tag: _, ...policy }: AgentPolicy) => policy

const maker = { accountType: "ECDSA", ownerAccountId: evmWallet(owner), accountIndex: 7n } as const

describe("ballast/signing computes what the service does", () => {
  for (const [name, policy] of Object.entries(policies)) {
    for (const settles of [true, false]) {
      it(`a permission with ${name}, ${settles ? "with" : "without"} withdrawals`, () =>
        assert.strictEqual(
          clientsData({ policy: wirePolicy(policy), account: owner, agent, settles }),
          permissionData({ policy, account: owner, agent, settles })
        ))
    }
  }

  it("the account's address, for owners of both kinds, from before withdrawals and after", () => {
    for (const accountType of ["ECDSA", "ERC1271"] as const) {
      for (const name of [withdrawalDomainName, null]) {
        assert.strictEqual(
          clientsAddress({ accountType, owner, accountIndex: 7n, withdrawalDomainName: name }),
          accountAddress({ ...maker, accountType, withdrawalDomainName: name }) as string
        )
      }
    }
  })

  it("the digest of a chain", () =>
    assert.strictEqual(
      clientsDigest({ chainId: 8453, account: owner, permissionId: "0x5f16f4c7", nonce: 3, permission: "0x1234" }),
      enableDigest({
        chainId: 8453 as ChainId,
        account: owner,
        permissionId: "0x5f16f4c7",
        permission: "0x1234",
        nonce: 3
      })
    ))

  it("the root of one to nine digests", () => {
    for (let count = 1; count < 10; count += 1) {
      const digests = Array.from({ length: count }, (_, index) => keccak256(toHex(index)))
      assert.strictEqual(merkleRoot(digests), digestRoot(digests))
    }
  })
})

/** What stage 1 answers for an owner of two chains. */
const issued = (guarded = policies["the guard"]!) => {
  const account = accountAddress({ ...maker, withdrawalDomainName })
  const chains = ([8453, 42161] as const).map((chainId, index) => {
    const policy = index === 0 ? guarded : policies["a bridge"]!
    const data = permissionData({ policy, account, agent, settles: true })
    const permissionId = "0x5f16f4c7"
    return {
      chainId: chainId as number,
      accountId: `eip155:${chainId}:${account}`,
      permissionId,
      enableNonce: 1,
      policy: structuredClone(wirePolicy(policy)) as Record<string, any>,
      permissionHash: keccak256(data),
      digest: enableDigest({ chainId: chainId as ChainId, account, permissionId, permission: data, nonce: 1 })
    }
  })
  const root = digestRoot(chains.map(({ digest }) => digest))
  return {
    message: { kind: "ecdsa" as const, raw: root },
    agentAccountId: `eip155:0:${agent}`,
    accountIndex: "7",
    accountType: "ECDSA" as const,
    flowId: "flow_01JQ8ZN1S3T5V7W9Y1A3C5E7G9",
    authorization: { withdrawalDomainName, root, chains }
  }
}
type Issued = ReturnType<typeof issued>

const expected = { ownerAccountId: `eip155:0:${owner}`, chainIds: [8453, 42161] }
const verify = (stage1: Issued) => verifyAuthorization(stage1 as unknown as Stage1, expected)

const other: Hex = `0x${"ab".repeat(32)}`
/** The part that an alteration is caught by, and the alteration. */
const alterations: ReadonlyArray<readonly [string, string, (stage1: Issued) => void]> = [
  ["message.raw", "the digest", (stage1) => (stage1.message.raw = other)],
  ["root", "the root", (stage1) => (stage1.authorization.root = other)],
  ["chains.0.policy", "the agent", (stage1) => (stage1.agentAccountId = `eip155:0:${address("a")}`)],
  ["chains.0.accountId", "the account's index", (stage1) => (stage1.accountIndex = "8")],
  ["chains.0.chainId", "the chain", (stage1) => (stage1.authorization.chains[0]!.chainId = 1)],
  [
    "chains.1.accountId",
    "an account",
    (stage1) => (stage1.authorization.chains[1]!.accountId = `eip155:42161:${agent}`)
  ],
  ["chains.0.permissionId", "a permission", (stage1) => (stage1.authorization.chains[0]!.permissionId = "0x00000001")],
  ["chains.1.permissionId", "a nonce", (stage1) => (stage1.authorization.chains[1]!.enableNonce = 2)],
  ["chains.0.permissionHash", "a hash", (stage1) => (stage1.authorization.chains[0]!.permissionHash = other)],
  [
    "chains.0.policy",
    "the guard's time",
    (stage1) => (stage1.authorization.chains[0]!.policy["guard"].validUntil += 1)
  ],
  [
    "chains.0.policy",
    "a fee",
    (stage1) => (stage1.authorization.chains[0]!.policy["guard"].serviceFee = { recipient: address("a"), mostBps: 100 })
  ],
  ["chains.1.policy", "the router", (stage1) => (stage1.authorization.chains[1]!.policy["router"] = address("a"))],
  ["chains.1.policy", "a token", (stage1) => (stage1.authorization.chains[1]!.policy["tokens"] = [address("a")])],
  ["authorization", "that there are parts", (stage1) => Reflect.deleteProperty(stage1, "authorization")]
]

describe("what is signed is described to its owner", () => {
  it("in words, when every part is what it says", () => {
    const { account, sentences } = verify(issued())
    assert.strictEqual(account, accountAddress({ ...maker, withdrawalDomainName }) as string)
    assert.include(sentences.join("\n"), `until ${new Date(guard.validUntil * 1_000).toISOString()}`)
    assert.include(sentences.join("\n"), "one trade may lose at most 0.5 percent")
    assert.include(sentences.join("\n"), "a stolen agent key could trade everything away")
  })

  it("with every fee and every recipient that it names", () => {
    const text = [policies["the guard with fees"]!, policies["the guard with everything"]!]
      .flatMap((policy) => verify(issued(policy)).sentences)
      .join("\n")
    assert.include(text, `of what each trade buys, at most 0.25 percent goes to ${address("a")} as a fee`)
    assert.include(text, `of what each trade buys, at most 0.05 percent goes to ${address("b")} as a fee`)
    assert.include(text, `what it sends to chain 1151111081099710 goes to the account 0x${"c1".repeat(32)}`)
  })

  for (const [part, what, alter] of alterations) {
    it(`not to sign, with the name ${part}, when somebody altered ${what}`, () => {
      const stage1 = issued()
      alter(stage1)
      try {
        verify(stage1)
      } catch (error) {
        assert.instanceOf(error, Altered)
        return assert.strictEqual((error as Altered).part, part)
      }
      assert.fail("nothing was noticed")
    })
  }
})

describe("a withdrawal from Solana", () => {
  const reference = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
  const recipientAccountId = `${reference}:7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU`
  const assets = [{ assetId: `${reference}/spl:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`, amountRaw: "25000000" }]
  const portfolioId = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"
  const nonce = `0x${"7c".repeat(32)}`
  const message = Schema.decodeUnknownSync(WithdrawalMessage)({
    portfolioId,
    recipientAccountId,
    assets,
    nonce,
    expiresAt: 1_772_444_400
  })
  const text = withdrawalText(withdrawalDomainName, message)
  const expected = { portfolioId, recipientAccountId, assets }
  const raw = (words: string) => ({ kind: "ecdsa" as const, raw: toHex(words), message })

  it("is described in words, as text and as bytes", () => {
    const described = [
      `Takes out 25000000 of ${assets[0]!.assetId} from the portfolio's account on Solana.`,
      "All of it goes to 7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU.",
      "It can be carried out once, until 2026-03-02T09:40:00.000Z."
    ]
    assert.deepStrictEqual(verifyWithdrawalText({ kind: "solana-message", text, message }, expected), described)
    assert.deepStrictEqual(verifyWithdrawalText(raw(text), expected), described)
  })

  it("is not signed when its words are not those of the message, or the message is not what was asked for", () => {
    const words = [
      text.replace("25000000", "26000000"),
      text.replace("7xKX", "8xKX"),
      text.replace("1772444400", "1872444400"),
      text.replace(" Withdrawal Authorization", ""),
      `${text}\n${assets[0]!.assetId} 1`,
      text.split("\n").toReversed().join("\n")
    ]
    for (const altered of words) assert.throws(() => verifyWithdrawalText(raw(altered), expected), Altered)
    const others = [
      { portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K9" },
      { recipientAccountId: `${recipientAccountId.slice(0, -1)}V` },
      { assets: [{ ...assets[0]!, amountRaw: "1" }] }
    ]
    for (const other of others) assert.throws(() => verifyWithdrawalText(raw(text), { ...expected, ...other }), Altered)
  })

  it("is signed by an EVM wallet as a personal signature, and left to owners with a Solana key", async () => {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const sent: Array<{ readonly message: unknown; readonly signature: string }> = []
    const serving = (authorization: Parameters<typeof verifyWithdrawalText>[0]): Parameters<typeof withdraw>[0] => ({
      withdrawals: {
        ...connect({ baseUrl: "http://ballast.test", apiKey: "key" }).withdrawals,
        prepare: async () => ({ authorizationId: nonce, expiresAt: "2026-03-02T09:40:00.000Z", authorization }),
        withdraw: async (_, body) => {
          sent.push(body)
          return {
            operationId: OperationId.make("op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"),
            submittedAt: "2026-03-02T09:30:00.000Z"
          }
        }
      }
    })
    await withdraw(serving(raw(text)), wallet, { portfolioId, recipientAccountId, assets })
    assert.deepStrictEqual(sent[0]!.message, message)
    assert.isTrue(await verifyMessage({ address: wallet.address, message: text, signature: sent[0]!.signature as Hex }))
    const ofKey = serving({ kind: "solana-message", text, message })
    const refused = await withdraw(ofKey, wallet, expected).catch((error) => error)
    assert.instanceOf(refused, Altered)
    assert.lengthOf(sent, 1)
  })
})

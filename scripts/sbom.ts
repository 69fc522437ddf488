/**
 * `npm run sbom`: writes what `npm ci --omit=dev` installs, as a CycloneDX document, to `sbom.cdx.json` or the file that
 * is its argument, from the lock file alone: the same file makes the same document, without a network. A test fails
 * while it is not current. `npm sbom` refuses this tree, since packages of the tests have peers that are not met.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

interface Locked {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Lock {
  readonly name: string
  readonly version: string
  readonly packages: Readonly<Record<string, Locked>>
}

const folder = "node_modules/"

/** Where Node searches a package that one at `path` names: beside it, then in each folder above. */
const placesOf = (path: string, name: string): ReadonlyArray<string> => {
  const here = path === "" ? `${folder}${name}` : `${path}/${folder}${name}`
  const above = path.lastIndexOf(folder)
  return path === "" ? [here] : [here, ...placesOf(above <= 0 ? "" : path.slice(0, above - 1), name)]
}

const purlOf = (name: string, version: string) => `pkg:npm/${name.replace("@", "%40")}@${version}`

/** Hashes of the package's archive; what stands in this repository has none. */
const hashesOf = ({ integrity = "" }: Locked) =>
  integrity
    .split(" ")
    .filter((text) => text.startsWith("sha512-"))
    .map((text) => ({ alg: "SHA-512", content: Buffer.from(text.slice(7), "base64").toString("hex") }))

/** Finds a licence by SPDX; what is of this repository alone has no licence of that list. */
const licenceOf = ({ license }: Locked) => {
  if (license === undefined) return {}
  return { licenses: license === "UNLICENSED" ? [{ license: { name: license } }] : [{ expression: license }] }
}

/** Sorted, so that a changed line is a changed package. */
const byRef = (a: { readonly ref: string }, b: { readonly ref: string }) => (a.ref < b.ref ? -1 : a.ref > b.ref ? 1 : 0)

const billOfMaterials = ({ name, packages, version }: Lock) => {
  const installed = Object.entries(packages)
    .filter(([path, { dev = false }]) => path.startsWith(folder) && !dev)
    .map(([path, listed]) => {
      // A link stands for a folder of this repository.
      const locked = listed.link === true ? { ...packages[listed.resolved!]!, link: true } : listed
      const own = locked.name ?? path.slice(path.lastIndexOf(folder) + folder.length)
      return { path, locked, name: own, ref: purlOf(own, locked.version!), isOptional: listed.optional === true }
    })
  const refs = new Map(installed.map(({ path, ref }) => [path, ref]))
  const rootRef = purlOf(name, version)

  const dependsOn = (path: string, { dependencies = {}, optionalDependencies = {} }: Locked) => {
    const found = Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((wanted) => {
      const place = placesOf(path, wanted).find((each) => refs.has(each))
      return place === undefined ? [] : [refs.get(place)!]
    })
    return [...new Set(found)].toSorted()
  }

  /** Packages, each once: one may stand in several folders. */
  const once = new Map(installed.map((each) => [each.ref, each]))
  const edges = new Map<string, Set<string>>()
  for (const { locked, path, ref } of installed) {
    const known = edges.get(ref) ?? new Set()
    for (const other of dependsOn(path, locked)) known.add(other)
    edges.set(ref, known)
  }
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { "bom-ref": rootRef, type: "application", name, version, purl: rootRef } },
    components: [...once.values()].toSorted(byRef).map(({ isOptional, locked, name: own, ref }) => ({
      "bom-ref": ref,
      type: "library",
      name: own,
      version: locked.version!,
      purl: ref,
      scope: isOptional ? "optional" : "required",
      ...(hashesOf(locked).length === 0 ? {} : { hashes: hashesOf(locked) }),
      ...licenceOf(locked)
    })),
    dependencies: [
      { ref: rootRef, dependsOn: dependsOn("", packages[""]!) },
      ...[...edges].map(([ref, others]) => ({ ref, dependsOn: [...others].toSorted() })).toSorted(byRef)
    ]
  }
}

const root = join(import.meta.dirname, "..")
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock
const target = process.argv[2] ?? join(root, "sbom.cdx.json")
const document = billOfMaterials(lock)
writeFileSync(target, `${JSON.stringify(document, null, 2)}\n`)
process.stdout.write(`${target}: ${document.components.length} packages\n`)

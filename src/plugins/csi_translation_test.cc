#include "plugins/csi_translation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/storage.h"
#include "base/testing/names.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

struct CsiTranslation : ::testing::Test {
  testing::World world;

  Ref<const PersistentVolume> volume(const std::string& spec, const std::string& labels = "") {
    return testing::object_of<PersistentVolume>(
        world, fmt::format("{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: pv, "
                           "labels: {{{}}}}}, spec: {{{}}}}}",
                           labels, spec));
  }
  // "Error: …" if there is one.
  static std::string text_of(const Result<std::string>& handle) {
    return handle ? *handle : "Error: " + handle.error().message;
  }
  // "key In a,b; key Exists | …": requirements of terms.
  std::string affinity(const std::string& spec, const std::string& labels = "") {
    SymbolHold symbols(world.interner.symbols());
    const Ref<const PersistentVolume> asked = volume(spec, labels);  // holds the rest
    const auto translated = csi_node_affinity(*asked, symbols);
    if (!translated) return "Error: " + translated.error().message;
    if (!*translated) return "any node";
    std::vector<std::string> terms;
    for (const NodeSelectorTerm& term : **translated) {
      std::vector<std::string> requirements;
      for (const SelectorRequirement& requirement : term.match_expressions) {
        std::vector<std::string_view> values;
        for (const Symbol value : requirement.values) values.push_back(symbols.text(value));
        requirements.push_back(fmt::format("{} {} {}", symbols.text(requirement.key),
                                           operator_text(requirement, *symbols.table()),
                                           fmt::join(values, ",")));
      }
      terms.push_back(fmt::format("{}", fmt::join(requirements, "; ")));
    }
    return fmt::format("{}", fmt::join(terms, " | "));
  }
};

std::string required(const std::string& terms) {
  return fmt::format(", nodeAffinity: {{required: {{nodeSelectorTerms: [{}]}}}}", terms);
}

TEST_F(CsiTranslation, KnowsTypesBySourceAndByName) {
  struct Row {
    VolumeSource source;
    std::string plugin, driver;
    bool migrated;
  };
  const Row table[] = {
      {VolumeSource::kAwsElasticBlockStore, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", true},
      {VolumeSource::kGcePersistentDisk, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", true},
      {VolumeSource::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org", true},
      {VolumeSource::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", true},
      {VolumeSource::kPortworxVolume, "kubernetes.io/portworx-volume", "pxd.portworx.com", true},
      {VolumeSource::kAzureFile, "kubernetes.io/azure-file", "file.csi.azure.com", false},
      {VolumeSource::kVsphereVolume, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com",
       false},
  };
  for (const Row& row : table) {
    const InTreeVolumeType* type = in_tree_type(row.source);
    ASSERT_NE(type, nullptr) << row.plugin;
    EXPECT_EQ(type, in_tree_type(row.plugin));
    EXPECT_EQ(type->plugin, row.plugin);
    EXPECT_EQ(type->driver, row.driver);
    EXPECT_EQ(type->migrated, row.migrated) << row.plugin;
  }
  for (const VolumeSource source :
       {VolumeSource::kCsi, VolumeSource::kRbd, VolumeSource::kIscsi, VolumeSource::kOther,
        VolumeSource::kPersistentVolumeClaim, VolumeSource::kEphemeral})
    EXPECT_EQ(in_tree_type(source), nullptr);
  EXPECT_EQ(in_tree_type("kubernetes.io/no-provisioner"), nullptr);
  EXPECT_EQ(in_tree_type(""), nullptr);
}

TEST_F(CsiTranslation, ANodeSaysWhichTypesAreItsDrivers) {
  const auto node = [&](const std::string& plugins) {
    return testing::object_of<CSINode>(
        world,
        fmt::format("{{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {{name: node, "
                    "annotations: {{storage.alpha.kubernetes.io/migrated-plugins: \"{}\"}}}}"
                    ", spec: {{drivers: []}}}}",
                    plugins));
  };
  const InTreeVolumeType& ebs = *in_tree_type("kubernetes.io/aws-ebs");
  EXPECT_TRUE(ebs.is_migrated_on(node("kubernetes.io/aws-ebs").get()));
  EXPECT_TRUE(ebs.is_migrated_on(node("kubernetes.io/gce-pd,kubernetes.io/aws-ebs").get()));
  EXPECT_FALSE(ebs.is_migrated_on(node("kubernetes.io/gce-pd, kubernetes.io/aws-ebs").get()));
  EXPECT_FALSE(ebs.is_migrated_on(node("kubernetes.io/aws-ebs-2").get()));
  EXPECT_FALSE(ebs.is_migrated_on(node("").get()));
  EXPECT_FALSE(ebs.is_migrated_on(nullptr));
  const auto file = node("kubernetes.io/azure-file");
  EXPECT_FALSE(in_tree_type("kubernetes.io/azure-file")->is_migrated_on(file.get()));
}

TEST_F(CsiTranslation, HandlesOfPersistentVolumes) {
  const std::string zone = "topology.kubernetes.io/zone: ";
  const std::string beta = "failure-domain.beta.kubernetes.io/zone: ";
  const std::string gce = "gcePersistentDisk: {pdName: d}";
  const std::string failed = "Error: failed to translate Kubernetes ID to EBS Volume ID ";
  struct Row {
    std::string spec, labels, handle;
  };
  const Row table[] = {
      {"awsElasticBlockStore: {volumeID: vol-1}", "", "vol-1"},
      {"awsElasticBlockStore: {volumeID: anything at all}", "", "anything at all"},
      {"awsElasticBlockStore: {volumeID: \"aws://us-east-1a/vol-1\"}", "", "vol-1"},
      {"awsElasticBlockStore: {volumeID: \"aws:///vol-1\"}", "", "vol-1"},
      {"awsElasticBlockStore: {volumeID: \"aws://z//vol-1/?q#f\"}", "", "vol-1"},
      {"awsElasticBlockStore: {volumeID: \"aws://z/vol-%31\"}", "", "vol-1"},
      {"awsElasticBlockStore: {volumeID: \"aws://z/disk\"}", "",
       failed + "Invalid format for AWS volume (aws://z/disk)"},
      {"awsElasticBlockStore: {volumeID: \"aws://z/vol-1/x\"}", "",
       failed + "Invalid format for AWS volume (aws://z/vol-1/x)"},
      {"awsElasticBlockStore: {volumeID: \"aws://z/%zz\"}", "",
       failed + "Invalid disk name (aws://z/%zz): parse \"aws://z/%zz\": invalid URL escape "
                "\"%zz\""},
      {"awsElasticBlockStore: {volumeID: \"aws://z z/vol-1\"}", "",
       failed + "Invalid disk name (aws://z z/vol-1): parse \"aws://z z/vol-1\": invalid "
                "character \" \" in host name"},
      {"awsElasticBlockStore: {volumeID: \"aws://z:p/vol-1\"}", "",
       failed + "Invalid disk name (aws://z:p/vol-1): parse \"aws://z:p/vol-1\": invalid port "
                "\":p\" after host"},
      {gce, "", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"},
      {gce, zone + "a", "projects/UNSPECIFIED/zones/a/disks/d"},
      {gce, zone + "a, " + beta + "b", "projects/UNSPECIFIED/zones/b/disks/d"},
      {gce, zone + "a, " + beta + "''", "projects/UNSPECIFIED/zones/a/disks/d"},
      {gce, zone + "us-east1-a__us-east1-b", "projects/UNSPECIFIED/regions/us-east1/disks/d"},
      {gce, zone + "us-east1-a__us-west1-b",
       "Error: failed to get region from zones: multiple or no regions gotten from zones, got: "
       "map[us-east1:{} us-west1:{}]"},
      {gce, zone + "a__b",
       "Error: failed to get region from zones: zone in unexpected format, expected: "
       "{locale}-{region}-{zone}, got: a"},
      {"cinder: {volumeID: c}", zone + "a", "c"},
      {"portworxVolume: {volumeID: p}", "", "p"},
      {"azureDisk: {diskName: d, diskURI: u}", "", "u"},
      {"azureDisk: {diskName: d, diskURI: u, kind: Managed}", "", "u"},
      {"azureDisk: {diskName: d, diskURI: u, kind: mANAGED}", "", "u"},
      {"azureDisk: {diskName: d, diskURI: u, kind: Dedicated}", "",
       "Error: kind(Dedicated) is not supported in csi migration"},
  };
  for (const Row& row : table)
    EXPECT_EQ(text_of(csi_handle(*volume(row.spec, row.labels))), row.handle)
        << row.spec << " " << row.labels;
}

TEST_F(CsiTranslation, HandlesOfInlineVolumes) {
  const auto handle = [&](const std::string& source) {
    const Ref<const Pod> pod = testing::pod_of(
        world, fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: ns}}, "
                           "spec: {{containers: [], volumes: [{{name: v, {}}}]}}}}",
                           source));
    return text_of(csi_handle(pod->spec().volumes[0], pod->symbols()));
  };
  EXPECT_EQ(handle("gcePersistentDisk: {pdName: d}"),
            "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d");
  EXPECT_EQ(handle("awsElasticBlockStore: {volumeID: \"aws://z/vol-7\"}"), "vol-7");
  EXPECT_EQ(handle("azureDisk: {diskName: d, diskURI: u}"), "u");
  EXPECT_EQ(handle("azureDisk: {diskName: d, diskURI: u, kind: Shared}"),
            "Error: kind(Shared) is not supported in csi migration");
  EXPECT_EQ(handle("cinder: {volumeID: c}"), "c");
  EXPECT_EQ(handle("portworxVolume: {volumeID: p}"), "p");
}

TEST_F(CsiTranslation, ZonesInTheAffinityGetTheDriversKey) {
  const std::string ebs = "awsElasticBlockStore: {volumeID: vol-1}";
  const std::string zone = "topology.kubernetes.io/zone";
  const std::string beta = "failure-domain.beta.kubernetes.io/zone";
  const auto in = [](const std::string& key, const std::string& values) {
    return fmt::format("{{key: {}, operator: In, values: [{}]}}", key, values);
  };
  const auto term = [](const std::string& expressions) {
    return fmt::format("{{matchExpressions: [{}]}}", expressions);
  };
  const std::string ebs_zone = "topology.ebs.csi.aws.com/zone";
  // No zones at all.
  EXPECT_EQ(affinity(ebs), "any node");
  EXPECT_EQ(affinity(ebs + required(term(in("disk", "ssd")))), "disk In ssd");
  // Zones in the affinity, in every term.
  EXPECT_EQ(affinity(ebs + required(term(in(zone, "a, b")) + ", " +
                                    term(in("disk", "ssd") + ", " + in(zone, "c")))),
            ebs_zone + " In a,b | disk In ssd; " + ebs_zone + " In c");
  EXPECT_EQ(affinity(ebs + required(term(in(beta, "a")))), ebs_zone + " In a");
  // Of both families the present one is translated.
  EXPECT_EQ(affinity(ebs + required(term(in(beta, "a") + ", " + in(zone, "b")))),
            beta + " In a; " + ebs_zone + " In b");
  // A requirement without values is none.
  EXPECT_EQ(affinity(ebs + required(term("{key: " + zone + ", operator: Exists}"))),
            zone + " Exists ");
  EXPECT_EQ(affinity(ebs + required(term("{key: " + zone + ", operator: Exists}")), zone + ": a"),
            zone + " Exists ; " + ebs_zone + " In a");
  // Each driver has its own key, or none.
  EXPECT_EQ(affinity("gcePersistentDisk: {pdName: d}" + required(term(in(zone, "a")))),
            "topology.gke.io/zone In a");
  EXPECT_EQ(affinity("cinder: {volumeID: d}" + required(term(in(zone, "a")))),
            "topology.cinder.csi.openstack.org/zone In a");
  EXPECT_EQ(affinity("azureDisk: {diskName: d, diskURI: d}" + required(term(in(zone, "a")))),
            zone + " In a");
  EXPECT_EQ(affinity("portworxVolume: {volumeID: d}", zone + ": a"), "any node");
}

TEST_F(CsiTranslation, ZonesOfTheLabelAreAddedToEveryTerm) {
  const std::string ebs = "awsElasticBlockStore: {volumeID: vol-1}";
  const std::string zone = "topology.kubernetes.io/zone: ";
  const std::string beta = "failure-domain.beta.kubernetes.io/zone: ";
  const std::string key = "topology.ebs.csi.aws.com/zone";
  EXPECT_EQ(affinity(ebs, zone + "a"), key + " In a");
  EXPECT_EQ(affinity(ebs, zone + "b__a__b"), key + " In a,b");
  EXPECT_EQ(affinity(ebs, zone + "b____' '"), key + " In ' ',b");
  EXPECT_EQ(affinity(ebs, beta + "a"), key + " In a");
  EXPECT_EQ(affinity(ebs, beta + "b, " + zone + "a"), key + " In a");
  EXPECT_EQ(affinity(ebs, zone + "''"), "any node");
  EXPECT_EQ(affinity(ebs, zone + "'__'"), "any node");
  EXPECT_EQ(affinity(ebs + required(""), zone + "a"), key + " In a");
  EXPECT_EQ(affinity(ebs + required("{matchExpressions: [{key: disk, operator: Exists}]}, {}"),
                     zone + "a"),
            "disk Exists ; " + key + " In a | " + key + " In a");
}

TEST_F(CsiTranslation, OldRegionsAreRenamedWithOldZones) {
  const std::string ebs = "awsElasticBlockStore: {volumeID: vol-1}";
  const std::string beta_region = "failure-domain.beta.kubernetes.io/region";
  const std::string region_only =
      required("{matchExpressions: [{key: " + beta_region + ", operator: In, values: [r]}]}");
  EXPECT_EQ(affinity(ebs + region_only), beta_region + " In r");
  EXPECT_EQ(affinity(ebs + region_only, "failure-domain.beta.kubernetes.io/zone: a"),
            "topology.kubernetes.io/region In r; topology.ebs.csi.aws.com/zone In a");
}

TEST_F(CsiTranslation, AVolumeThatCannotBeTranslatedHasNoAffinityEither) {
  EXPECT_EQ(affinity("azureDisk: {diskName: d, diskURI: d, kind: Shared}"),
            "Error: kind(Shared) is not supported in csi migration");
}

TEST_F(CsiTranslation, PiecesOfALabel) {
  EXPECT_THAT(zones_in_label("a__b"), ElementsAre("a", "b"));
  EXPECT_THAT(zones_in_label("a_b"), ElementsAre("a_b"));
  EXPECT_THAT(zones_in_label("a___b"), ElementsAre("a", "_b"));
  EXPECT_THAT(zones_in_label(""), ElementsAre(""));
  EXPECT_EQ(trimmed(" a b\t"), "a b");
  EXPECT_EQ(trimmed("  "), "");
}

}  // namespace
}  // namespace berth::plugins

#include "plugins/image_locality/image_locality.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

class ImageLocalityTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;

  Ref<const Pod> pod(const std::vector<std::string>& images,
                     const std::vector<std::string>& init_images = {},
                     const std::vector<std::string>& volume_images = {}) {
    testing::PodBuilder builder = world.pod("p");
    for (const std::string& image : images)
      builder.spec().containers.emplace_back().image = builder.symbol(image);
    for (const std::string& image : init_images)
      builder.spec().init_containers.emplace_back().image = builder.symbol(image);
    for (const std::string& image : volume_images) {
      Volume volume;
      volume.source = VolumeSource::kImage;
      volume.source_name = builder.symbol(image);
      builder.spec().volumes.push_back(volume);
    }
    return builder;
  }

  Scores score(const Ref<const Pod>& asked) {
    fixture.cluster.begin_cycle();
    return *fixture.score(*fixture.make<ImageLocality>(), asked);
  }
};

TEST(ImageNames, WithoutATagMeanTheLatest) {
  const std::pair<const char*, const char*> table[] = {
      {"nginx", "nginx:latest"},
      {"a/b", "a/b:latest"},
      {"host:5000/img", "host:5000/img:latest"},
      {"host:5000/img:1", "host:5000/img:1"},
      {"img:1", "img:1"},
      {"img@sha256:abc", "img@sha256:abc"},
      {"", ":latest"},
  };
  for (const auto& [written, meant] : table) EXPECT_EQ(normalized_image_name(written), meant);
}

TEST_F(ImageLocalityTest, PrefersNodesThatHaveMoreOfThePodsImages) {
  fixture.add_node(world.node("n1")
                       .image("gcr.io/40:latest", 40 * kMiB)
                       .image("gcr.io/300:latest", 300 * kMiB)
                       .image("gcr.io/2000:latest", 2000 * kMiB));
  fixture.add_node(world.node("n2")
                       .image("gcr.io/250:latest", 250 * kMiB)
                       .image("gcr.io/10:latest", 10 * kMiB)
                       .image("gcr.io/4000:v1", 4000 * kMiB));
  struct Row {
    const char* why;
    Ref<const Pod> pod;
    Score n1, n2;
  };
  const Row table[] = {
      {"40 on one, 250 on the other", pod({"gcr.io/40", "gcr.io/250"}), 0, 5},
      {"40 and 300 on one", pod({"gcr.io/40", "gcr.io/300"}), 7, 0},
      {"too much is as good as enough", pod({"gcr.io/4000:v1"}), 0, 100},
      {"too little is nothing", pod({"gcr.io/10"}), 0, 0},
      {"another tag is another image", pod({"gcr.io/4000"}), 0, 0},
      {"unknown images", pod({"x", "y"}), 0, 0},
      {"init containers count", pod({"gcr.io/40"}, {"gcr.io/300"}), 7, 0},
      {"one image used twice", pod({"gcr.io/300", "gcr.io/300"}), 14, 0},
      {"image volumes count like containers", pod({"x"}, {}, {"gcr.io/300"}), 6, 0},
      {"no containers, nothing there", pod({}), 0, 0},
  };
  for (const Row& row : table)
    EXPECT_EQ(score(row.pod), (Scores{{"n1", row.n1}, {"n2", row.n2}})) << row.why;
}

TEST_F(ImageLocalityTest, AnImageThatFewNodesHaveCountsLess) {
  fixture.add_node(world.node("n1").image("gcr.io/4000:latest", 4000 * kMiB));
  fixture.add_node(world.node("n2"));
  fixture.add_node(world.node("n3"));
  EXPECT_EQ(score(pod({"gcr.io/4000", "x"})), (Scores{{"n1", 66}, {"n2", 0}, {"n3", 0}}));
}

TEST_F(ImageLocalityTest, ImagesOfSeveralNodesCountAsSpreadAsTheyAre) {
  fixture.add_node(world.node("n1")
                       .image("gcr.io/300:latest", 300 * kMiB)
                       .image("gcr.io/600:latest", 600 * kMiB));
  fixture.add_node(world.node("n2")
                       .image("gcr.io/300:latest", 300 * kMiB)
                       .image("gcr.io/600:latest", 600 * kMiB)
                       .image("gcr.io/900:latest", 900 * kMiB));
  fixture.add_node(world.node("n3"));
  // n1: 300 and 600, each on 2 of 3 nodes; n2: 900 on 1 of 3 as well.
  EXPECT_EQ(score(pod({"gcr.io/300", "gcr.io/600", "gcr.io/900"})),
            (Scores{{"n1", 19}, {"n2", 29}, {"n3", 0}}));
}

TEST_F(ImageLocalityTest, TheNumberOfNodesIsTheCurrentOne) {
  fixture.add_node(world.node("n1").image("a:1", 1000 * kMiB));
  EXPECT_EQ(score(pod({"a:1"})), (Scores{{"n1", 100}}));
  fixture.add_node(world.node("n2"));
  EXPECT_EQ(score(pod({"a:1"})), (Scores{{"n1", 48}, {"n2", 0}}));
}

TEST_F(ImageLocalityTest, SignsTheNamesThatAreMeant) {
  const auto plugin = fixture.make<ImageLocality>();
  const auto signature = [&](const Ref<const Pod>& asked) {
    return berth::testing::signature(*plugin, asked, {"v1.Pod.Spec.CanonicalImageNames()"});
  };
  EXPECT_EQ(signature(pod({"a", "b:1", "a"})), signature(pod({"b:1"}, {"a:latest"})));
  EXPECT_EQ(signature(pod({"a"})), signature(pod({"a"}, {}, {"volume"})));
  EXPECT_NE(signature(pod({"a"})), signature(pod({"b"})));
}

TEST_F(ImageLocalityTest, ManyImagesOnEitherSideAreCountedAlike) {
  testing::NodeBuilder many = world.node("many");
  many.image("big:1", 500 * kMiB);
  for (int i = 0; i < 40; ++i) many.image("other:" + std::to_string(i), kMiB);
  fixture.add_node(many);
  fixture.add_node(world.node("few").image("big:1", 500 * kMiB));
  std::vector<std::string> images{"big:1", "big:1"};
  const Scores two = score(pod(images));
  EXPECT_EQ(two.at("many"), two.at("few"));
  EXPECT_GT(two.at("few"), 0);
  for (int i = 0; i < 30; ++i) images.push_back("unknown:" + std::to_string(i));
  const Scores more = score(pod(images));
  EXPECT_EQ(more.at("many"), more.at("few"));
}

}  // namespace
}  // namespace berth::plugins

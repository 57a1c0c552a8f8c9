import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.tensorflow.Result;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Tensor;
import org.tensorflow.TensorFlow;
import org.tensorflow.ndarray.NdArray;
import org.tensorflow.ndarray.NdArrays;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.DataBuffers;
import org.tensorflow.types.TBool;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TString;

/**
 * Captions photographs, or regions, with an exported captioner and without Python.
 *
 * <pre>
 *   caption MODEL/1 [--signature=NAME] photo.jpg ...      signature: caption_image
 *   caption MODEL/1 [--signature=NAME] --request=FILE     signature: serving_default
 * </pre>
 *
 * <p>A request file has a line for each input: name, type (float32, int32 or string), shape
 * (2,36,4), and its values in base64: little-endian numbers, or one word for each string,
 * separated by commas. The output has a line of JSON for each picture: caption, words, box_index,
 * grounded, log_prob and, for photographs, error.
 */
public final class Caption {
  private Caption() {}

  public static void main(String[] arguments) throws IOException {
    String signature = "";
    String request = "";
    List<String> named = new ArrayList<>();
    for (String argument : arguments) {
      if (argument.startsWith("--signature=")) {
        signature = argument.substring("--signature=".length());
      } else if (argument.startsWith("--request=")) {
        request = argument.substring("--request=".length());
      } else {
        named.add(argument);
      }
    }
    if (named.isEmpty() || (named.size() > 1) == !request.isEmpty()) {
      System.err.println("usage: caption MODEL/1 [--signature=NAME] (PHOTOGRAPH ... | --request=FILE)");
      System.exit(2);
    }
    System.err.println("TensorFlow " + TensorFlow.version());
    if (signature.isEmpty()) {
      signature = request.isEmpty() ? "caption_image" : "serving_default";
    }
    Map<String, Tensor> inputs =
        request.isEmpty() ? photographs(named.subList(1, named.size())) : request(Path.of(request));
    try (SavedModelBundle model = SavedModelBundle.load(named.get(0), "serve");
        Result answer = model.function(signature).call(inputs)) {
      print(answer);
    }
  }

  /** The files as they are: the graph decodes them. */
  private static Map<String, Tensor> photographs(List<String> paths) throws IOException {
    NdArray<byte[]> data = NdArrays.ofObjects(byte[].class, Shape.of(paths.size()));
    for (int row = 0; row < paths.size(); row++) {
      data.setObject(Files.readAllBytes(Path.of(paths.get(row))), row);
    }
    return Map.of("image_bytes", TString.tensorOfBytes(data));
  }

  private static Map<String, Tensor> request(Path file) throws IOException {
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] parts = line.split(" ", 4);
      String[] sizes = parts[2].split(",");
      long[] shape = new long[sizes.length];
      for (int axis = 0; axis < sizes.length; axis++) {
        shape[axis] = Long.parseLong(sizes[axis]);
      }
      inputs.put(parts[0], tensor(parts[1], Shape.of(shape), parts.length > 3 ? parts[3] : ""));
    }
    return inputs;
  }

  private static Tensor tensor(String type, Shape shape, String values) {
    Base64.Decoder decoder = Base64.getDecoder();
    if (type.equals("string")) {
      String[] words = values.split(",", -1);
      byte[][] strings = new byte[words.length][];
      for (int i = 0; i < words.length; i++) {
        strings[i] = decoder.decode(words[i]);
      }
      return TString.tensorOfBytes(
          NdArrays.wrap(shape, DataBuffers.of(strings, true, false)));
    }
    java.nio.ByteBuffer bytes =
        java.nio.ByteBuffer.wrap(decoder.decode(values)).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    if (type.equals("int32")) {
      int[] numbers = new int[bytes.remaining() / 4];
      bytes.asIntBuffer().get(numbers);
      return TInt32.tensorOf(shape, DataBuffers.of(numbers));
    }
    float[] numbers = new float[bytes.remaining() / 4];
    bytes.asFloatBuffer().get(numbers);
    return TFloat32.tensorOf(shape, DataBuffers.of(numbers));
  }

  private static void print(Result answer) {
    TString caption = (TString) answer.get("caption").orElseThrow();
    TString words = (TString) answer.get("words").orElseThrow();
    TInt32 length = (TInt32) answer.get("length").orElseThrow();
    TInt32 boxIndex = (TInt32) answer.get("box_index").orElseThrow();
    TBool grounded = (TBool) answer.get("grounded").orElseThrow();
    TFloat32 logProb = (TFloat32) answer.get("log_prob").orElseThrow();
    TString error = (TString) answer.get("error").orElse(null);
    for (long row = 0; row < caption.shape().get(0); row++) {
      StringJoiner texts = new StringJoiner(", ", "[", "]");
      StringJoiner indices = new StringJoiner(", ", "[", "]");
      StringJoiner flags = new StringJoiner(", ", "[", "]");
      for (long word = 0; word < length.getInt(row); word++) {
        texts.add(quoted(words.getObject(row, word)));
        indices.add(String.valueOf(boxIndex.getInt(row, word)));
        flags.add(String.valueOf(grounded.getBoolean(row, word)));
      }
      StringJoiner fields = new StringJoiner(", ", "{", "}");
      fields.add("\"caption\": " + quoted(caption.getObject(row)));
      fields.add("\"words\": " + texts);
      fields.add("\"box_index\": " + indices);
      fields.add("\"grounded\": " + flags);
      fields.add("\"log_prob\": " + logProb.getFloat(row));
      if (error != null) {
        fields.add("\"error\": " + quoted(error.getObject(row)));
      }
      System.out.write((fields + "\n").getBytes(StandardCharsets.UTF_8), 0,
          (fields + "\n").getBytes(StandardCharsets.UTF_8).length);
    }
    System.out.flush();
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
